/** An HTTPS server on loopback that serves an MTA-STS policy, or a faulty response. */

import type { ServerResponse } from "node:http";
import https from "node:https";
import type net from "node:net";
import { closeServer, portOf } from "./smtp-sink.ts";
import type { TestCertificate } from "./tls.ts";

export type PolicyAnswer = {
  status?: number;
  /** Content type; null for no such header. */
  mediaType?: string | null;
  body?: string;
  location?: string;
  /** True if the server never responds. */
  hangs?: boolean;
  /** True if the body arrives byte by byte and never ends. */
  trickles?: boolean;
};

export type PolicyServer = {
  port: number;
  /** The response; a test may change it while the server runs. */
  answer: PolicyAnswer;
  /** All requests as `GET mta-sts.example.com /path`, without the port. */
  requests: string[];
  close(): Promise<void>;
};

export async function startPolicyServer(
  { key, cert }: TestCertificate,
  answer: PolicyAnswer,
): Promise<PolicyServer> {
  const sockets = new Set<net.Socket>();
  const server = https.createServer({ key, cert }, (request, response) => {
    const host = request.headers.host?.replace(/:\d+$/, "");
    state.requests.push(`${request.method} ${host} ${request.url}`);
    const { status = 200, mediaType = "text/plain", body = "", location } = state.answer;
    if (state.answer.hangs === true) return;
    if (mediaType !== null) response.setHeader("content-type", mediaType);
    if (location !== undefined) response.setHeader("location", location);
    response.writeHead(status);
    if (state.answer.trickles === true) trickle(response);
    else response.end(body);
  });
  server.on("connection", (socket: net.Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const state: PolicyServer = {
    port: portOf(server),
    answer,
    requests: [],
    close: () => closeServer(server, sockets),
  };
  return state;
}

function trickle(response: ServerResponse): void {
  const timer = setInterval(() => response.write(" "), 10);
  response.on("close", () => clearInterval(timer));
}
