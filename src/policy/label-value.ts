// What Kubernetes takes as the value of a label.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set

const longest = 63;

export function isLabelValue(text: string): boolean {
  return text.length <= longest && /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/.test(text);
}
