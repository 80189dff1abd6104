/** Compares the answers of two servers member by member. */

/** A server of Mailpit's interface. */
export type Server = { name: string; url: string; smtpPort: number };

export type Answer = { status: number; type: string; body: unknown };

export type Difference = { path: string; expected: unknown; actual: unknown };

/** Members that no two servers have in common: only their types are compared. */
const OWN_VALUE =
  /\.(?:ID|Created|Size|MessageID|ContentLength|LatestVersion|Version|Database|DatabaseSize|RuntimeStats|Uptime|Memory)$/;

export async function request(
  { url }: Server,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  const type = response.headers.get("content-type") ?? "";
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, type, body: bodyOf(type, bytes) };
}

function bodyOf(type: string, bytes: Buffer): unknown {
  if (!/^(?:text|application\/json)/.test(type)) return bytes.toString("base64");
  const text = bytes.toString("utf8");
  if (!type.startsWith("application/json")) return text;
  const value: unknown = JSON.parse(text);
  return value;
}

/** The differences between two answers, in the order of their members. */
export function differences(expected: Answer, actual: Answer): Difference[] {
  const found: Difference[] = [];
  if (expected.status !== actual.status) {
    found.push({ path: "status", expected: expected.status, actual: actual.status });
  }
  const media = ({ type }: Answer) => type.toLowerCase().replaceAll(" ", "");
  if (media(expected) !== media(actual)) {
    found.push({ path: "content-type", expected: expected.type, actual: actual.type });
  }
  compare("", expected.body, actual.body, found);
  return found;
}

function compare(path: string, expected: unknown, actual: unknown, found: Difference[]): void {
  if (OWN_VALUE.test(path)) {
    if (typeof expected !== typeof actual) found.push({ path, expected, actual });
    return;
  }
  if (isObject(expected) && isObject(actual)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      compare(`${path}.${name}`, expected[name], actual[name], found);
    }
    return;
  }
  if (!Object.is(expected, actual)) found.push({ path, expected, actual });
}

/** Arrays are objects whose members have the names of their positions. */
function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
