/**
 * Starts the dashboard: the cache of responses, the router and the theme. `boot.ts` ran before.
 */

import { MantineProvider } from "@mantine/core";
import { notifyManager, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api.ts";
import { watchConnection } from "./connection.ts";
import { keepFocus } from "./keyboard-focus.ts";
import { lazyPart } from "./lazy.tsx";
import { createDashboardRouter } from "./router.tsx";
import { schemeManager, theme } from "./theme.ts";
import { isReadable } from "./ui/deletion.ts";
import { isMissing } from "./ui/error-text.ts";

const Notifications = lazyPart(async () => (await import("@mantine/notifications")).Notifications);

const RETRIES = 2;

// A checkbox whose state is in the cache must not be drawn with its old state in between.
notifyManager.setScheduler(queueMicrotask);

const client = new QueryClient({
  queryCache: new QueryCache({
    // A page does not go on showing an object that was deleted elsewhere.
    onError: (error, query) => {
      if (isMissing(error)) query.setState({ data: undefined });
    },
  }),
  defaultOptions: {
    queries: {
      // Without a connection a query fails, so that its place shows why, and is read again later.
      networkMode: "always",
      refetchOnReconnect: true,
      enabled: isReadable,
      staleTime: 10_000,
      // A refusal stays one. Only a lost connection and a busy server are worth another try.
      retry: (count, error) =>
        count < RETRIES &&
        (!(error instanceof ApiError) || [0, 429, 502, 503, 504].includes(error.status)),
    },
    mutations: { networkMode: "always" },
  },
});

watchConnection();
const router = createDashboardRouter(client);
keepFocus(router);
const nonce = document.querySelector('meta[name="csp-nonce"]')?.getAttribute("content") ?? "";

const app = (
  <StrictMode>
    <MantineProvider
      theme={theme}
      colorSchemeManager={schemeManager}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={client}>
        <Notifications position="bottom-right" limit={3} />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>
);

const element = document.getElementById("root");
if (element === null) throw new Error("The page has no element with the id root.");

// Reloading this module in development keeps the root, because it must be created only once.
(import.meta.hot.data.root ??= createRoot(element)).render(app);

// In development a changed module loads the page again. The URL holds the state of a view.
import.meta.hot.on("bun:afterUpdate", () => window.location.reload());
