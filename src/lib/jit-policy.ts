/**
 * When the engine compiles functions to machine code. The executable starts with a policy that
 * compiles them much later (scripts/build.ts): most of the code of a start runs only then, and
 * compiling it would take a third of the processor time of a start, and memory.
 */

/** Sets the usual policy of the engine, when the start has ended. */
export function compileAsUsual(): void {
  Bun.unsafe.setJITPolicy(1);
}
