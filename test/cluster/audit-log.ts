// Reads the audit log of a running control plane as it grows.
import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminClient } from './admin-client.ts';
import { AuditParser } from './audit-record.ts';
import type { AuditRecord } from './audit-record.ts';

const markerPrefix = 'audit-marker-';
const patienceMs = 10_000;

/** Each log has one reader, because parsing its many records again for each question takes seconds. */
const openLogs = new Map<string, AuditLog>();

export function openAuditLog(path: string, admin: AdminClient): AuditLog {
  const log = openLogs.get(path) ?? new AuditLog(path, admin);
  openLogs.set(path, log);
  return log;
}

export class AuditLog {
  readonly #path: string;
  readonly #admin: AdminClient;
  readonly #parser = new AuditParser();
  readonly #records: AuditRecord[] = [];
  readonly #markers = new Set<string>();
  #offset = 0;
  #lastTurn: Promise<void> = Promise.resolve();

  constructor(path: string, admin: AdminClient) {
    this.#path = path;
    this.#admin = admin;
  }

  /** Returns all records since the start of the control plane, including every request answered before this call. */
  async records(): Promise<readonly AuditRecord[]> {
    const marker = `${markerPrefix}${randomBytes(6).toString('hex')}`;
    const isAnswered = await this.#admin.send('GET', `/api/v1/namespaces/${marker}`).then(
      () => true,
      // A server that is down writes no more records.
      () => false,
    );
    await (isAnswered ? this.#readUntil(marker) : this.#readOn());
    return [...this.#records];
  }

  async #readUntil(marker: string): Promise<void> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      await this.#readOn();
      if (this.#markers.delete(marker)) return;
      if (performance.now() > deadline) throw new Error('the audit log does not grow');
      await sleep(10);
    }
  }

  /** Reads one piece after the other, because two parallel reads would start at the same place. */
  async #readOn(): Promise<void> {
    const turn = this.#lastTurn.then(() => this.#readNext());
    this.#lastTurn = turn.catch(() => undefined);
    await turn;
  }

  async #readNext(): Promise<void> {
    const content = await this.#unread();
    const end = content.lastIndexOf('\n') + 1;
    this.#offset += end;
    for (const line of content.subarray(0, end).toString('utf8').split('\n')) {
      if (line !== '') this.#take(this.#parser.parse(line));
    }
  }

  #take(record: AuditRecord): void {
    if (record.name.startsWith(markerPrefix)) this.#markers.add(record.name);
    else this.#records.push(record);
  }

  async #unread(): Promise<Buffer> {
    const file = await open(this.#path, 'r');
    try {
      const { size } = await file.stat();
      const length = Math.max(0, size - this.#offset);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, this.#offset);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }
}
