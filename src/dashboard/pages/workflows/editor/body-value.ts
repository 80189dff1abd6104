/** The body of a call as it was typed: an object or a list as JSON, another text as it is. */
export function bodyValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : text;
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
