/** The text that `mailstead serve` prints when it has started. */

export function startText(info: {
  version: string;
  data: string;
  url: string;
  publicUrl: string;
  transport: string;
  setUpUrl: string | null;
  unsafe: readonly string[];
}): string {
  return [
    `Mailstead ${info.version}`,
    `  data       ${info.data}`,
    `  listening  ${info.url}`,
    `  links      ${info.publicUrl}`,
    `  docs       ${info.url}/docs`,
    `  transport  ${info.transport}`,
    ...info.unsafe.map((choice) => `  unsafe     ${choice}`),
    ...(info.setUpUrl === null ? [] : [`Open ${info.setUpUrl} to create the owner`]),
  ].join("\n");
}
