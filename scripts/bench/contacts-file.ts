/** Generates a CSV file of unsorted contacts; the content is the same in every run. */

import { createRandom } from "../seed/random.ts";

const NAMES = ["ada", "grace", "linus", "mary", "john", "zoe", "peter", "olga", "ivan", "wei"];
const DOMAINS = ["gmail.com", "example.com", "mail.example.org", "firma.example", "outlook.com"];

export type FileRow = { email: string; subscribed: boolean; cells: string[]; data: unknown };

export function* fileRows(count: number): Generator<FileRow> {
  const random = createRandom(20_260_404);
  for (let i = 0; i < count; i++) {
    const name = random.pick(NAMES);
    const email = `${random.bits().toString(36)}.${name}${i.toString(36)}@${random.pick(DOMAINS)}`;
    const subscribed = random.integer(10) > 0;
    const plan = random.integer(5) === 0 ? "pro" : "free";
    const score = random.integer(1000);
    const day = `2025-0${1 + random.integer(9)}-1${random.integer(9)}`;
    const full = `${name} Lovelace`;
    const cells = [email, String(subscribed), plan, String(score), day, full];
    yield { email, subscribed, cells, data: { plan, score, signupDate: day, name: full } };
  }
}

/** Writes the file and returns its size in bytes. */
export async function writeFile(path: string, count: number): Promise<number> {
  const file = Bun.file(path).writer();
  void file.write("email,subscribed,plan,score,signupDate,name\n");
  for (const { cells } of fileRows(count)) void file.write(`${cells.join(",")}\n`);
  await file.end();
  return Bun.file(path).size;
}
