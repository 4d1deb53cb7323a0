/** Hands out parts of a sum, never more than is left of it. */
export class Remainder {
  left: number;

  constructor(sum: number) {
    this.left = sum;
  }

  take(part: number | null): number {
    const taken = Math.min(part ?? 0, this.left);
    this.left -= taken;
    return taken;
  }
}
