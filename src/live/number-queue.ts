/** A queue of numbers that takes 8 bytes for each, however long it is. */
export class NumberQueue implements Iterable<number> {
  #numbers: number[] = [];
  /** Index of the oldest: a cut of the array for each would cost more than everything else. */
  #head = 0;

  get length(): number {
    return this.#numbers.length - this.#head;
  }

  /** The oldest number. */
  get first(): number | undefined {
    return this.#numbers[this.#head];
  }

  get last(): number | undefined {
    return this.length === 0 ? undefined : this.#numbers.at(-1);
  }

  /** Removes a number, if it is queued. The numbers ascend. */
  remove(number: number): void {
    if (number < (this.first ?? Infinity) || number > (this.last ?? -1)) return;
    const place = this.placeOf(number);
    if (place >= 0) this.#numbers.splice(this.#head + place, 1);
  }

  push(number: number): void {
    this.#numbers.push(number);
  }

  /** Removes and returns the oldest. */
  take(count: number): readonly number[] {
    const taken = this.#numbers.slice(this.#head, this.#head + count);
    this.#head += taken.length;
    if (this.#head * 2 > this.#numbers.length) {
      this.#numbers = this.#numbers.slice(this.#head);
      this.#head = 0;
    }
    return taken;
  }

  /** Place of a number, from 0 for the oldest; -1 if it is not queued. */
  placeOf(number: number): number {
    const index = this.#numbers.indexOf(number, this.#head);
    return index === -1 ? -1 : index - this.#head;
  }

  *[Symbol.iterator](): Generator<number> {
    for (let i = this.#head; i < this.#numbers.length; i++) yield this.#numbers[i] ?? 0;
  }
}
