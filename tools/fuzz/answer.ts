/** An HTTP answer while it comes. */
export class Answer {
  status = 0;
  head = '';
  /** All of it has come, as its head says how much there is. */
  isWhole = false;
  #bytes: Buffer = Buffer.alloc(0);
  /** As its head says; null where it comes in chunks. */
  #length: number | null = null;
  readonly #hasBody: boolean;

  constructor(isHead: boolean) {
    this.#hasBody = !isHead;
  }

  get hasHead(): boolean {
    return this.head !== '';
  }

  /** What is behind it is no part of it: a body that is framed in no sound way may be refused as a request. */
  get body(): Buffer {
    return this.#length === null ? this.#bytes : this.#bytes.subarray(0, this.#length);
  }

  header(name: string): string | null {
    return new RegExp(`\\r\\n${name}: *([^\\r]*)`, 'i').exec(this.head)?.[1] ?? null;
  }

  take(chunk: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    while (this.head === '') {
      const end = this.#bytes.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = this.#bytes.toString('latin1', 0, end);
      this.#bytes = this.#bytes.subarray(end + 4);
      // What comes before an answer is none.
      if (head.startsWith('HTTP/1.1 100')) continue;
      this.status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? -1);
      this.head = head;
      const length = this.header('content-length');
      this.#length = length === null ? null : Number(length);
    }
    this.isWhole = this.#hasEnded();
  }

  #hasEnded(): boolean {
    if (!this.#hasBody || this.status === 204 || this.status === 304) return true;
    if (this.#length !== null) return this.#bytes.length >= this.#length;
    return this.#bytes.subarray(-7).toString('latin1').endsWith('0\r\n\r\n');
  }
}
