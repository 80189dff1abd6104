/** Runs a proof to its exit code: 0 where all of it held, 1 where not, or not within the time. */
export async function runProof(prove: () => Promise<boolean>, limitMs: number): Promise<never> {
  setTimeout(() => {
    console.error(`not done within ${limitMs / 60_000} minutes`);
    process.exit(1);
  }, limitMs);
  try {
    process.exit((await prove()) ? 0 : 1);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}
