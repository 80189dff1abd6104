/** The file of a thread, which is a program of its own (scripts/build.ts). */

/**
 * Returns the file of a thread for the module that starts it. In the executable all code of `main.ts`
 * is in one folder, and the file of the thread is at its place below it.
 */
export function threadFile(
  moduleUrl: string,
  paths: { beside: string; inExecutable: string },
): URL {
  const isExecutable = moduleUrl.includes("/$bunfs/") || moduleUrl.includes("/~BUN/");
  return new URL(isExecutable ? paths.inExecutable : paths.beside, moduleUrl);
}
