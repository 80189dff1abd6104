/** Smaller memory is left to the collector; buffers of this size never share theirs. */
const MIN_BYTES = 16 * 1024;

/**
 * Frees the memory of bytes that begin a buffer which only the caller uses; they are empty
 * afterwards. The collector finds large buffers that lived for some time only when it searches the
 * whole heap, which is rare.
 */
export function freeMemory({ buffer, byteOffset }: Uint8Array): void {
  const isLarge = buffer.byteLength >= MIN_BYTES;
  if (isLarge && byteOffset === 0 && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
