/**
 * Runs a check and exits the process: with code 0 if it resolved to true, with 1 if it resolved to
 * false, threw, or took longer than `limitMs`.
 */
export async function runCheck(check: () => Promise<boolean>, limitMs: number): Promise<never> {
  setTimeout(() => {
    console.error(`the check did not finish within ${limitMs / 60_000} minutes`);
    process.exit(1);
  }, limitMs);
  try {
    process.exit((await check()) ? 0 : 1);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}
