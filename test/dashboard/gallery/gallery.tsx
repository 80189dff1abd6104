/** A page with the parts of the kit, which a test opens in a browser. */

import { Button, Group, MantineProvider, TextInput } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { Mail } from "lucide-react";
import { useState } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "../../../src/dashboard/api.ts";
import { schemeManager, theme } from "../../../src/dashboard/theme.ts";
import { Code } from "../../../src/dashboard/ui/code.tsx";
import { Confirm } from "../../../src/dashboard/ui/confirm.tsx";
import { CopyText } from "../../../src/dashboard/ui/copy.tsx";
import { type Column, DataTable } from "../../../src/dashboard/ui/data-table.tsx";
import { Empty } from "../../../src/dashboard/ui/empty.tsx";
import { Field, Fields } from "../../../src/dashboard/ui/fields.tsx";
import { FilterBar, type Filters } from "../../../src/dashboard/ui/filter-bar.tsx";
import { MailFrame } from "../../../src/dashboard/ui/mail-frame.tsx";
import { Page } from "../../../src/dashboard/ui/page.tsx";
import { Problem } from "../../../src/dashboard/ui/problem.tsx";
import { SideDrawer } from "../../../src/dashboard/ui/side-drawer.tsx";
import { Status, statusWord } from "../../../src/dashboard/ui/status.tsx";
import { Time } from "../../../src/dashboard/ui/time.tsx";
import { Timeline } from "../../../src/dashboard/ui/timeline.tsx";
import { useApiForm } from "../../../src/dashboard/ui/use-api-form.ts";
import type { List } from "../../../src/dashboard/ui/use-list.ts";

const STATES = ["DELIVERED", "OPENED", "CLICKED", "QUEUED", "DEFERRED", "BOUNCED", "COMPLAINED"];
const MINUTE_MS = 60_000;
const COUNT = 20_000;

type Row = { id: string; to: string; subject: string; status: string; at: number };

const ROWS: readonly Row[] = Array.from({ length: COUNT }, (_, i) => ({
  id: `eml_${i}`,
  to: `reader${i}@example.com`,
  subject: `Your order ${1000 + i} from the harbour has been shipped and is on its way`,
  status: STATES[i % STATES.length] ?? "QUEUED",
  at: Date.now() - i * MINUTE_MS,
}));

const COLUMNS: readonly Column<Row>[] = [
  { key: "to", title: "To", render: ({ to }) => to },
  { key: "subject", title: "Subject", render: ({ subject }) => subject },
  {
    key: "status",
    title: "Status",
    width: "140px",
    render: ({ status }) => <Status value={status} />,
  },
  {
    key: "at",
    title: "Sent",
    width: "130px",
    isFigure: true,
    render: ({ at }) => <Time at={at} isPlain />,
  },
];

function listOf(rows: readonly Row[]): List<Row> {
  return {
    rows,
    total: rows.length,
    isLoading: false,
    isLoadingMore: false,
    hasMore: false,
    error: null,
    loadMore: () => undefined,
    retry: () => undefined,
  };
}

const nothing = () => undefined;

function TablePage() {
  const [filters, setFilters] = useState<Filters>({});
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  const [open, setOpen] = useState<number | null>(null);
  const rows = ROWS.filter(({ status }) => (filters["status"] ?? status) === status).filter(
    ({ to }) => to.includes(filters["to"] ?? ""),
  );
  const row = open === null ? undefined : rows[open];
  return (
    <Page title="Emails" isFixed actions={<Button>Send a mail</Button>}>
      <FilterBar
        label="Search emails"
        fields={[
          { key: "to", hint: "Address of the recipient" },
          {
            key: "status",
            hint: "State of the mail",
            values: STATES.map((value) => ({ value, label: statusWord(value) })),
          },
        ]}
        filters={filters}
        onChange={setFilters}
      >
        {rows.length.toLocaleString("en")} emails
      </FilterBar>
      <DataTable
        label="Emails"
        list={listOf(rows)}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        href={({ id }) => `#${id}`}
        onOpen={(opened) => setOpen(rows.indexOf(opened))}
        openKey={row?.id}
        selection={{ keys, onChange: setKeys }}
        phone={({ to, subject, status }) => ({
          first: (
            <>
              {to} <Status value={status} />
            </>
          ),
          second: subject,
        })}
        empty={<Empty icon={Mail} title="No emails yet" text="Send the first one." />}
        isFiltered
        onClearFilters={() => setFilters({})}
      />
      <SideDrawer
        isOpen={row !== undefined}
        onClose={() => setOpen(null)}
        title={<h2 className="cut">{row?.subject}</h2>}
        label={row?.subject ?? "Email"}
        onNext={() => setOpen((at) => (at ?? 0) + 1)}
        onPrevious={open === 0 ? undefined : () => setOpen((at) => (at ?? 0) - 1)}
      >
        <Fields>
          <Field label="To">{row?.to}</Field>
          <Field label="Status">
            <Status value={row?.status ?? ""} />
          </Field>
        </Fields>
      </SideDrawer>
    </Page>
  );
}

const ERROR = new ApiError({
  status: 503,
  code: "STORAGE_FAULT",
  message: "The storage cannot be written.",
  suggestion: "Free some space on the disk of the server.",
  requestId: "01a2040e-58dc-707e-b723",
  errors: [],
});

const REFUSED = new ApiError({
  status: 422,
  code: "VALIDATION_ERROR",
  message: "The request is not valid.",
  suggestion: "Correct the fields.",
  requestId: "01a2040e",
  errors: [{ field: "email", message: "must be an email address", code: "invalid_format" }],
});

function PartsPage() {
  const [isAsking, setIsAsking] = useState(false);
  const form = useApiForm({
    initial: { name: "", email: "" },
    submit: () => Promise.reject(REFUSED),
  });
  return (
    <Page
      title="Parts"
      badge={<Status tone="held">Paused</Status>}
      description="All parts of the kit."
    >
      <section className="section">
        <h2>States</h2>
        <Group gap="xs">
          {STATES.map((value) => (
            <Status key={value} value={value} />
          ))}
        </Group>
      </section>
      <section className="section">
        <h2>Fields</h2>
        <Fields>
          <Field label="Id">
            <CopyText value="eml_01a2040e" label="Copy the id" />
          </Field>
          <Field label="Sent">
            <Time at={Date.now() - MINUTE_MS * 5} />
          </Field>
        </Fields>
      </section>
      <Problem error={ERROR} onRetry={nothing} />
      <section className="section">
        <h2>Code</h2>
        <Code
          label="Example"
          samples={{ curl: "curl https://mail.example.com/v1/send", PHP: "<?php" }}
        />
      </section>
      <section className="section">
        <h2>Timeline</h2>
        <Timeline
          label="What happened"
          items={[
            { key: "1", tone: "waiting", title: "Queued", at: Date.now() - MINUTE_MS * 3 },
            { key: "2", tone: "good", title: "Sent", at: Date.now(), detail: "250 2.0.0 Ok" },
          ]}
        />
      </section>
      <section className="section">
        <h2>Form</h2>
        <form onSubmit={form.onSubmit}>
          <TextInput label="Name" {...form.field("name")} />
          <TextInput label="Email address" {...form.field("email")} />
          <Button type="submit">Save</Button>
        </form>
      </section>
      <section className="section">
        <h2>Mail</h2>
        <MailFrame title="Preview" path="/mail" />
      </section>
      <Button color="red" onClick={() => setIsAsking(true)}>
        Delete the project
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title="Delete Harbour Books?"
        text="Its contacts, templates and emails are deleted."
        name="Harbour Books"
        action="Delete the project"
        onConfirm={() => Promise.reject(ERROR)}
      />
      <Empty
        icon={Mail}
        title="No emails yet"
        text="Send the first one."
        action={<Button>Send</Button>}
      />
    </Page>
  );
}

const root = createRootRoute();
const page = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: () => (
    <main className="main" style={{ height: "100dvh" }}>
      {window.location.pathname === "/app/table" ? <TablePage /> : <PartsPage />}
    </main>
  ),
});
const router = createRouter({
  routeTree: root.addChildren([page]),
  history: createMemoryHistory({ initialEntries: ["/"] }),
});

const nonce = document.querySelector('meta[name="csp-nonce"]')?.getAttribute("content") ?? "";
const client = new QueryClient({ defaultOptions: { queries: { retry: false, enabled: false } } });
const element = document.getElementById("root");
if (element !== null) {
  createRoot(element).render(
    <MantineProvider
      theme={theme}
      colorSchemeManager={schemeManager}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={client}>
        {/* The types of the program's own router are those of Link and useParams. */}
        <RouterProvider<typeof router> router={router} />
      </QueryClientProvider>
    </MantineProvider>,
  );
}
