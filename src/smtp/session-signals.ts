/** Tells the work for a message that the session in which it arrived has ended. */

import { DisconnectedError } from "./message-stream.ts";

export function createSessionSignals() {
  const controllers = new Map<string, AbortController>();
  return {
    /** Runs the work for a message of a session. The signal aborts if the session ends before it. */
    async during<T>(sessionId: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
      const controller = new AbortController();
      controllers.set(sessionId, controller);
      try {
        return await work(controller.signal);
      } finally {
        controllers.delete(sessionId);
      }
    },

    /** Called when a session has ended. */
    end: (sessionId: string): void => controllers.get(sessionId)?.abort(new DisconnectedError()),
  };
}
