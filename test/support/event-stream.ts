/** Reads streams of server-sent events in tests. */

/** Reads a stream in the background; `state.text` has what arrived so far. */
export function readInBackground(stream: ReadableStream<Uint8Array>) {
  const state = { text: "", isOver: false, error: "" };
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const read = async (): Promise<void> => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      state.text += decoder.decode(value, { stream: true });
    }
  };
  read()
    .catch((error: unknown) => (state.error = String(error)))
    .finally(() => (state.isOver = true));
  return { state, cancel: () => reader.cancel() };
}
