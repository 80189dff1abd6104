/** Logs how long the steps of the demonstration take. */

export type Step = <T>(name: string, work: () => T | Promise<T>) => Promise<T>;

export function createSteps(log: (text: string) => void): Step {
  return async (name, work) => {
    const startedAt = performance.now();
    const result = await work();
    log(`${name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    return result;
  };
}
