/** Prints how many forms of the bounce corpus are read correctly, by kind (test/protocols/dsn). */

import { countsByKind, type KindCounts } from "../test/protocols/dsn/corpus/table.ts";

function print(title: string, rows: readonly KindCounts[]): boolean {
  const forms = rows.reduce((sum, row) => sum + row.forms, 0);
  const right = rows.reduce((sum, row) => sum + row.right, 0);
  console.log(`\n${title}: ${right} of ${forms}`);
  for (const row of rows) {
    console.log(`  ${row.kind.padEnd(24)} ${String(row.right).padStart(3)} of ${row.forms}`);
  }
  return right === forms;
}

const { bounces, others } = countsByKind();
const isRight = [
  print("Bounces read correctly", bounces),
  print("Other messages that are no bounce", others),
].every(Boolean);
process.exit(isRight ? 0 : 1);
