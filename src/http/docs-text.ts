/** The pages of docs/ and their list. The texts take 300 kB, so this file is loaded when it is needed. */

import { type DocsPage, readDocs } from "./embedded-docs.ts" with { type: "macro" };

const PAGES: readonly DocsPage[] = readDocs();

/** The Markdown of a page, such as `sending.md`; null if there is none of this name. */
export function docsPage(name: string): string | null {
  return PAGES.find((page) => page.name === name)?.text ?? null;
}

/** The list of all pages for language models, in the format of llmstxt.org. */
export function docsList(): string {
  const links = PAGES.map(({ name, title, summary }) => `- [${title}](/docs/${name}): ${summary}`);
  return `# Mailstead

> An email platform in one executable with one SQLite file: it sends transactional mail, campaigns
> and workflows over HTTP and SMTP, and catches mail in development and tests.

These pages are those of the version that serves them. \`/openapi.json\` describes each operation of the HTTP
interface.

## Documentation

${links.join("\n")}
`;
}
