// Defines the reason why a program cannot start, in words for the operator. Only the text of this error may be shown.

export class StartError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StartError';
  }
}
