/** An HTTP or HTTPS server on loopback that records what it is asked and answers as told. */

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
  /** Whatever else a server may do with the connection; nothing: it never answers. */
  | { write: (response: http.ServerResponse) => void };

export type WebServer = {
  port: number;
  /** `http://127.0.0.1:<port>`, with the address it listens at. */
  origin: string;
  /** May be changed while it runs. `count` includes this request. */
  answer: (request: WebRequest, count: number) => WebAnswer;
  requests: WebRequest[];
  /** Connections that are open. */
  connections(): number;
  close(): Promise<void>;
};

export type WebServerOptions = {
  address?: string;
  /** 0: any that is free. */
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
    const seen: WebRequest = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: body.toString("utf8"),
    };
    state.requests.push(seen);
    const said = state.answer(seen, state.requests.length);
    if ("write" in said) said.write(response);
    else response.writeHead(said.status ?? 200, said.headers).end(said.body);
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
