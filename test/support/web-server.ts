/** An HTTP or HTTPS server on loopback that records requests; the test defines its responses. */

import http from "node:http";
import https from "node:https";
import type net from "node:net";
import { closeServer, portOf } from "./smtp-sink.ts";

export type WebRequest = {
  method: string;
  path: string;
  headers: http.IncomingHttpHeaders;
  body: string;
};

export type WebAnswer =
  | { status?: number; headers?: Record<string, string>; body?: string | Uint8Array }
  /** Uses the response object directly; a function that does nothing never responds. */
  | { write: (response: http.ServerResponse) => void };

export type WebServer = {
  port: number;
  /** Origin with the address on which the server listens, such as `http://127.0.0.1:8080`. */
  origin: string;
  /** Returns the response to a request; a test may replace it. `count` includes this request. */
  answer: (request: WebRequest, count: number) => WebAnswer;
  requests: WebRequest[];
  /** Returns the number of open connections. */
  connections(): number;
  close(): Promise<void>;
};

export type WebServerOptions = {
  address?: string;
  /** Port to listen on; 0 (the default) for a free port. */
  port?: number;
  certificate?: { key: string; cert: string };
  answer?: WebServer["answer"];
};

export async function startWebServer(options: WebServerOptions = {}): Promise<WebServer> {
  const { address = "127.0.0.1", port = 0, certificate, answer = () => ({}) } = options;
  const sockets = new Set<net.Socket>();

  function handle(request: http.IncomingMessage, response: http.ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => respond(request, Buffer.concat(chunks), response));
  }

  function respond(
    request: http.IncomingMessage,
    body: Buffer,
    response: http.ServerResponse,
  ): void {
    const recorded: WebRequest = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: body.toString("utf8"),
    };
    state.requests.push(recorded);
    const result = state.answer(recorded, state.requests.length);
    if ("write" in result) result.write(response);
    else response.writeHead(result.status ?? 200, result.headers).end(result.body);
  }

  const server =
    certificate === undefined ? http.createServer(handle) : https.createServer(certificate, handle);
  server.on("connection", (socket: net.Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, address, resolve));
  const host = address.includes(":") ? `[${address}]` : address;
  const scheme = certificate === undefined ? "http" : "https";
  const state: WebServer = {
    port: portOf(server),
    origin: `${scheme}://${host}:${portOf(server)}`,
    answer,
    requests: [],
    connections: () => sockets.size,
    close: () => closeServer(server, sockets),
  };
  return state;
}
