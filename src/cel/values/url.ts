// Reads URLs as Go's net/url does. Unlike browsers, it repairs nothing.
import { parseIp } from './ip.ts';
import { Boxed } from './value.ts';

interface Parts {
  readonly scheme: string;
  readonly opaque: string;
  readonly user: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly hasQuery: boolean;
}

export class Url extends Boxed {
  readonly kind = 'kubernetes.URL';
  readonly #parts: Parts;
  readonly #fragment: string;

  constructor(parts: Parts, fragment: string) {
    super();
    this.#parts = parts;
    this.#fragment = fragment;
  }

  get scheme(): string {
    return this.#parts.scheme;
  }

  get host(): string {
    return this.#parts.host;
  }

  get query(): string {
    return this.#parts.query;
  }

  get hostname(): string {
    const { host } = this;
    const name = this.port === '' ? host.replace(/:$/, '') : host.slice(0, -this.port.length - 1);
    return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
  }

  get port(): string {
    return /:(\d*)$/.exec(this.host.replace(/^\[[^\]]*\]/, ''))?.[1] ?? '';
  }

  /** Returns the path as written when it is escaped well; otherwise escapes it. */
  get escapedPath(): string {
    const { path } = this.#parts;
    if (path === '*' || /^[A-Za-z0-9\-_.~!$&'()*+,;=:@[\]%/]*$/.test(path)) return path;
    return encode(decode(path) ?? path);
  }

  equals(other: this): boolean {
    return this.#text() === other.#text();
  }

  #text(): string {
    const { scheme, opaque, user, host, query, hasQuery } = this.#parts;
    return JSON.stringify([
      scheme,
      opaque,
      user,
      host,
      this.escapedPath,
      query,
      hasQuery,
      decode(this.#fragment),
    ]);
  }
}

/** Go escapes only these in a path. */
function encode(path: string): string {
  return encodeURI(path).replaceAll(/[!'()*#?[\]]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
}

function decode(text: string): string | undefined {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    // Go accepts escapes that are not UTF-8; they stay as written.
    return text;
  }
}

/** Returns true for an absolute URL, or a path that begins with a slash. */
export function isRequestUri(text: string): boolean {
  return parse(text, true) !== undefined;
}

export function parseUrl(text: string): Url | undefined {
  if (!isRequestUri(text)) return undefined;
  const hash = text.indexOf('#');
  const fragment = hash === -1 ? '' : text.slice(hash + 1);
  const parts = parse(hash === -1 ? text : text.slice(0, hash), false);
  return parts === undefined || decode(fragment) === undefined ? undefined : new Url(parts, fragment);
}

// oxlint-disable-next-line no-control-regex -- a URL has none of these
const CONTROL = /[\u0000-\u001F\u007F]/;
const NONE: Parts = { scheme: '', opaque: '', user: '', host: '', path: '', query: '', hasQuery: false };

function parse(text: string, isRequest: boolean): Parts | undefined {
  if (CONTROL.test(text) || (text === '' && isRequest) || text.startsWith(':')) return undefined;
  if (text === '*') return { ...NONE, path: '*' };
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*(?=:)/.exec(text)?.[0] ?? '';
  const afterScheme = scheme === '' ? text : text.slice(scheme.length + 1);
  const mark = afterScheme.indexOf('?');
  const query = mark === -1 ? '' : afterScheme.slice(mark + 1);
  const base = { ...NONE, scheme: scheme.toLowerCase(), query, hasQuery: mark !== -1 };
  return parseHierarchy(mark === -1 ? afterScheme : afterScheme.slice(0, mark), base, isRequest);
}

function parseHierarchy(rest: string, base: Parts, isRequest: boolean): Parts | undefined {
  if (!rest.startsWith('/')) return parseRelative(rest, base, isRequest);
  const mayHaveHost = base.scheme !== '' || !(isRequest || rest.startsWith('///'));
  if (!rest.startsWith('//') || !mayHaveHost) return withPath(base, rest);
  const authorityEnd = rest.indexOf('/', 2);
  const end = authorityEnd === -1 ? rest.length : authorityEnd;
  const authority = parseAuthority(rest.slice(2, end));
  return authority && withPath({ ...base, ...authority }, rest.slice(end));
}

function parseRelative(rest: string, base: Parts, isRequest: boolean): Parts | undefined {
  if (base.scheme !== '') return { ...base, opaque: rest };
  return isRequest || rest.split('/')[0]?.includes(':') === true ? undefined : withPath(base, rest);
}

function withPath(base: Parts, path: string): Parts | undefined {
  return decode(path) === undefined ? undefined : { ...base, path };
}

function parseAuthority(authority: string): { readonly user: string; readonly host: string } | undefined {
  const at = authority.lastIndexOf('@');
  const user = authority.slice(0, Math.max(at, 0));
  const host = parseHost(authority.slice(at + 1));
  if (host === undefined || !/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) return undefined;
  return decode(user) === undefined ? undefined : { user, host };
}

function parseHost(host: string): string | undefined {
  if (host.startsWith('[')) return parseBracketed(host);
  if (!/^[^:]*(?::\d*)?$/.test(host)) return undefined;
  const isClean = !/[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\u{10FFFF}]/u.test(host);
  // In a host, only the percent sign and characters outside of ASCII may be escaped.
  return isClean && !/%(?!25|[89A-Fa-f][0-9A-Fa-f])/.test(host) ? decode(host) : undefined;
}

function parseBracketed(host: string): string | undefined {
  const [, address = '', zone = ''] = /^\[([^\]%]*)(%25[^\]]+)?\](?::\d*)?$/.exec(host) ?? [];
  if (!address.includes(':') || !isIPv6(address)) return undefined;
  return zone === '' ? host : host.replace('%25', '%');
}

function isIPv6(address: string): boolean {
  return parseIp(address) !== undefined || /^::ffff:/i.test(address);
}

/** Returns keys with all their values, in the order of their first use. Pairs with bad escapes are left out. */
export function queryOf(query: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const pair of query.split('&').filter((each) => each !== '' && !each.includes(';'))) {
    const [rawKey = '', ...rawValue] = pair.split('=');
    const [key, value] = [rawKey, rawValue.join('=')].map((text) => decode(text.replaceAll('+', '%20')));
    if (key === undefined || value === undefined) continue;
    const values = found.get(key);
    if (values === undefined) found.set(key, [value]);
    else values.push(value);
  }
  return found;
}
