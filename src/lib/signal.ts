/**
 * Passes the news that something happened, such as that mail was queued, from the modules that cause
 * it to a module that is made later.
 */

type Signal = {
  raise(): void;
  /** Registers a handler, which every later call of `raise` calls. */
  onRaised(handler: () => void): void;
};

export function createSignal(): Signal {
  const handlers: (() => void)[] = [];
  return {
    raise() {
      for (const handle of handlers) handle();
    },
    onRaised(handler) {
      handlers.push(handler);
    },
  };
}
