/**
 * Converts HTML to text for requests that are rare. The converter and its parser are loaded by the
 * first of them, because that takes 5 ms and 4 MiB.
 */
export async function textOfHtml(html: string): Promise<string> {
  const { htmlToText } = await import("./text.ts");
  return htmlToText(html);
}
