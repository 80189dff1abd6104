/** The refusal of a received message. The text begins with the enhanced status code (RFC 3463). */
export class ReceiveRefusal extends Error {
  readonly code: number;

  constructor(code: number, text: string) {
    super(text);
    this.code = code;
  }
}
