/** An HTTP answer while it comes. */
export class Answer {
  status = 0;
  head = '';
  /** All of it has come, as its head says how much there is. */
  isWhole = false;
  #bytes: Buffer = Buffer.alloc(0);
  readonly #hasBody: boolean;

  constructor(isHead: boolean) {
    this.#hasBody = !isHead;
  }

  get hasHead(): boolean {
    return this.head !== '';
  }

  /** What is behind it is no part of it: a body that is framed in no sound way may be refused as a request. */
  get body(): Buffer {
    const length = this.header('content-length');
    return length === null ? this.#bytes : this.#bytes.subarray(0, Number(length));
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
    }
    this.isWhole = this.#hasEnded();
  }

  #hasEnded(): boolean {
    if (!this.#hasBody || this.status === 204 || this.status === 304) return true;
    const length = this.header('content-length');
    if (length !== null) return this.#bytes.length >= Number(length);
    return this.#bytes.subarray(-7).toString('latin1').endsWith('0\r\n\r\n');
  }
}
