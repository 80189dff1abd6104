/** Reads the forms of send calls: multipart (RFC 7578) or urlencoded. */

import { invalidField, ProviderFault, type ProviderRequest } from "./provider.ts";

type FormFile = { name: string; type: string; content: Uint8Array };

export type FormFields = {
  /** The names of the fields, each once. */
  names(): string[];
  /** The text of a field; null if there is none. Throws for several. */
  text(name: string): string | null;
  texts(name: string): string[];
  /** Throws for a text in the place of a file. */
  files(name: string): FormFile[];
  /** The file of a field, or its text as one; null if there is neither. */
  fileOrText(name: string): FormFile | null;
};

/** A message to 1,000 recipients has a field for each. */
const MAX_FIELDS = 5_000;

export async function readProviderForm({ request, body }: ProviderRequest): Promise<FormFields> {
  const texts = new Map<string, string[]>();
  const files = new Map<string, FormFile[]>();
  let count = 0;
  for (const [name, value] of await entriesOf(request, body)) {
    count++;
    if (count > MAX_FIELDS) {
      throw new ProviderFault(400, "", `The form has more than ${MAX_FIELDS} fields.`);
    }
    if (typeof value === "string") addTo(texts, name, value);
    else addTo(files, name, await fileOf(value));
  }
  return fieldsOfForm(texts, files);
}

function fieldsOfForm(
  texts: ReadonlyMap<string, string[]>,
  files: ReadonlyMap<string, FormFile[]>,
): FormFields {
  function textsOf(name: string): string[] {
    if (files.has(name)) throw invalidField(name, "must be a text, not a file");
    return texts.get(name) ?? [];
  }

  function filesOf(name: string): FormFile[] {
    if (texts.has(name)) throw invalidField(name, "must be a file, not a text");
    return files.get(name) ?? [];
  }

  return {
    names: () => [...new Set([...texts.keys(), ...files.keys()])],
    text: (name) => onlyOne(name, textsOf(name)),
    texts: textsOf,
    files: filesOf,
    fileOrText(name) {
      if (files.has(name)) return onlyOne(name, filesOf(name));
      const text = onlyOne(name, textsOf(name));
      return text === null ? null : { name, type: "", content: Buffer.from(text) };
    },
  };
}

function onlyOne<T>(name: string, values: readonly T[]): T | null {
  if (values.length > 1) throw invalidField(name, "is given more than once");
  return values[0] ?? null;
}

async function entriesOf(
  request: Request,
  body: Buffer,
): Promise<Iterable<[name: string, value: string | File]>> {
  const type = request.headers.get("content-type") ?? "";
  if (/^multipart\/form-data\s*;/i.test(type)) {
    const response = new Response(body, { headers: { "content-type": type } });
    const form = await response.formData().catch(() => {
      throw new ProviderFault(400, "", "The multipart form is malformed or incomplete.");
    });
    return form.entries();
  }
  if (/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) {
    return new URLSearchParams(body.toString()).entries();
  }
  throw new ProviderFault(
    400,
    "",
    "The body must be a form: multipart/form-data or application/x-www-form-urlencoded.",
  );
}

async function fileOf(file: File): Promise<FormFile> {
  const content = new Uint8Array(await file.arrayBuffer());
  return { name: file.name === "" ? "file" : file.name, type: file.type, content };
}

function addTo<T>(map: Map<string, T[]>, name: string, value: T): void {
  const known = map.get(name);
  if (known === undefined) map.set(name, [value]);
  else known.push(value);
}
