/** Sends prepared HTTP requests over keep-alive connections, one at a time on each connection. */

export type LoadResult = { seconds: number; p50: number; p99: number; max: number };

type Connection = { sentAt: number; received: string };

const CONTENT_LENGTH = /\r\ncontent-length: (\d+)/i;

/**
 * Sends requests as fast as they are answered; throws if a response is not 200. It uses raw sockets
 * and parses as little as possible, since it shares the processor with the measured server. `onDone`
 * receives the number of finished requests after each response.
 */
export async function sendAll(options: {
  port: number;
  connections: number;
  requests: number;
  request: (number: number) => string;
  onDone?: (done: number) => void;
}): Promise<LoadResult> {
  const { port, connections, requests, request, onDone } = options;
  const durations = new Float64Array(requests);
  let started = 0;
  let done = 0;
  const { promise: allDone, resolve, reject } = Promise.withResolvers<void>();

  function send(socket: Bun.Socket<Connection>): void {
    if (started === requests) return void socket.end();
    const text = request(started++);
    socket.data.sentAt = performance.now();
    if (socket.write(text) !== text.length)
      reject(new Error("the socket accepted only part of a request"));
  }

  function receive(socket: Bun.Socket<Connection>, chunk: Buffer): void {
    const { data } = socket;
    data.received += chunk.toString("latin1");
    const end = data.received.indexOf("\r\n\r\n");
    if (end === -1) return;
    const length = Number(CONTENT_LENGTH.exec(data.received)?.[1]);
    if (data.received.length < end + 4 + length) return;
    if (!data.received.startsWith("HTTP/1.1 200")) return reject(new Error(data.received));
    data.received = "";
    durations[done++] = performance.now() - data.sentAt;
    onDone?.(done);
    if (done === requests) resolve();
    else send(socket);
  }

  const sockets: Bun.Socket<Connection>[] = [];
  for (let i = 0; i < connections; i++) {
    const socket = await Bun.connect<Connection>({
      hostname: "127.0.0.1",
      port,
      data: { sentAt: 0, received: "" },
      socket: { data: receive, error: (_, error) => reject(error) },
    });
    sockets.push(socket);
  }
  const startedAt = performance.now();
  for (const socket of sockets) send(socket);
  await allDone;
  const seconds = (performance.now() - startedAt) / 1000;
  durations.sort();
  const at = (q: number) => durations[Math.min(requests - 1, Math.floor(q * requests))] ?? 0;
  for (const socket of sockets) socket.end();
  return { seconds, p50: at(0.5), p99: at(0.99), max: at(1) };
}
