/**
 * The page Privacy: the tracking setting, how long data is kept, the export of the ledger of consents, and
 * the receipts of erasures.
 */

import { Button, Group, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { Eraser } from "lucide-react";
import { type FormEvent, useState } from "react";
import type { ErasureReceipt } from "../../../modules/privacy/erasure-model.ts";
import { api } from "../../api.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Copy } from "../../ui/copy.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Problem } from "../../ui/problem.tsx";
import { RoleNeeded } from "../../ui/role-needed.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { showFailure } from "../../ui/undo.tsx";
import { useList } from "../../ui/use-list.ts";
import { PrivacyForm } from "./privacy-form.tsx";
import { SettingsFrame } from "./settings-frame.tsx";
import { useProjectDetails } from "./use-project-details.ts";
import { PageSection } from "../../ui/page-section.tsx";

export function PrivacyPage() {
  return (
    <SettingsFrame>
      <RoleNeeded role="ADMIN">
        <ProjectSection />
        <LedgerSection />
        <ErasureSection />
      </RoleNeeded>
    </SettingsFrame>
  );
}

function ProjectSection() {
  const { data, error, refetch } = useProjectDetails();
  if (data !== undefined) return <PrivacyForm key={data.id} project={data} />;
  return error === null ? null : <Problem error={error} onRetry={() => void refetch()} />;
}

function LedgerSection() {
  const [isBusy, setIsBusy] = useState(false);

  async function save(format: "csv" | "ndjson"): Promise<void> {
    setIsBusy(true);
    try {
      const response = await api.file("/consents/export", { query: { format } });
      saveFile([await response.blob()], `consents.${format}`);
    } catch (error) {
      showFailure("The export failed", error);
    } finally {
      setIsBusy(false);
    }
  }

  return (
    <PageSection id="privacy-ledger" title="Ledger of consents">
      <p>
        Each consent and each withdrawal, with its time, its source, the address of the client and
        the text that was shown. The page of a contact has its own entries.
      </p>
      <Group gap="xs" mt="sm">
        <Button variant="default" loading={isBusy} onClick={() => void save("csv")}>
          Export as CSV
        </Button>
        <Button variant="default" loading={isBusy} onClick={() => void save("ndjson")}>
          Export as NDJSON
        </Button>
      </Group>
    </PageSection>
  );
}

const STANDINGS: Readonly<Record<NonNullable<ErasureReceipt["standing"]>, string>> = {
  UNSUBSCRIBED: "Not subscribed again",
  HARD_BOUNCE: "Gets no mail: bounced",
  SOFT_BOUNCE: "Gets no mail: bounced",
  COMPLAINT: "Gets no mail: complained",
  MANUAL: "Gets no mail: suppressed",
};

const ACTORS: Readonly<Record<ErasureReceipt["by"]["kind"], string>> = {
  USER: "A user",
  KEY: "A key",
  PERSON: "The person",
  CLI: "A command",
  SYSTEM: "The server, after a restore",
};

const number = new Intl.NumberFormat();
/** The beginning of a digest tells two of them apart, and so does the end of a number. */
const DIGEST_SHOWN = 10;
const RECEIPT_SHOWN = -8;

const COLUMNS: readonly Column<ErasureReceipt>[] = [
  {
    key: "at",
    title: "Requested",
    width: "116px",
    render: ({ requestedAt }) => <Time at={requestedAt} />,
  },
  {
    // The page that a person sees after the erasure shows the number.
    key: "id",
    title: "Receipt",
    width: "128px",
    render: ({ id }) => <ReceiptNumber id={id} />,
  },
  { key: "state", title: "State", width: "130px", render: ({ state }) => <Status value={state} /> },
  { key: "by", title: "By", width: "130px", render: ({ by }) => ACTORS[by.kind] },
  {
    key: "standing",
    title: "Kept",
    render: ({ standing }) => keptText(standing),
  },
  {
    key: "rows",
    title: "Removed",
    width: "90px",
    isFigure: true,
    render: ({ counts }) =>
      number.format(Object.values(counts).reduce((sum, count) => sum + count, 0)),
  },
  {
    key: "digest",
    title: "Digest",
    width: "160px",
    render: ({ digest }) => (
      <span className="copy-text">
        <code>{digest.slice(0, DIGEST_SHOWN)}…</code>
        <Copy value={digest} label="Copy the digest" />
      </span>
    ),
  },
];

const keptText = (standing: ErasureReceipt["standing"]): string =>
  standing === null ? "Nothing" : STANDINGS[standing];

const ReceiptNumber = ({ id }: { id: string }) => (
  <span className="copy-text">
    <code>…{id.slice(RECEIPT_SHOWN)}</code>
    <Copy value={id} label="Copy the number of the receipt" />
  </span>
);

/** The two lines of a row on phones. */
const receiptLines = ({ id, requestedAt, state, standing }: ErasureReceipt) => ({
  first: (
    <span className="line">
      <Time at={requestedAt} />
      <Status value={state} />
    </span>
  ),
  second: (
    <span className="line">
      {keptText(standing)} <ReceiptNumber id={id} />
    </span>
  ),
});

function ErasureSection() {
  const list = useList<ErasureReceipt>("erasures", "/erasures");
  return (
    <PageSection id="privacy-erasures" title="Erasures">
      <p>
        Receipts have no personal data and are kept. A person is erased on the page of the contact,
        or here by the address alone.
      </p>
      <EraseAddress />
      <DataTable
        label="Receipts of erasures"
        list={list}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        phone={receiptLines}
        empty={
          <Empty
            icon={Eraser}
            title="No erasures yet"
            text="The receipt of each erasure appears here."
          />
        }
      />
    </PageSection>
  );
}

function EraseAddress() {
  const client = useQueryClient();
  const [email, setEmail] = useState("");
  const [isAsking, asking] = useDisclosure(false);
  const address = email.trim();

  async function erase(): Promise<void> {
    await api.post<ErasureReceipt>("/erasures", { email: address });
    setEmail("");
    await client.invalidateQueries({ queryKey: ["erasures"] });
  }

  return (
    <form
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        asking.open();
      }}
    >
      <Group gap="xs" align="end" mt="sm" mb="md">
        <TextInput
          label="Address to erase"
          type="email"
          autoComplete="off"
          value={email}
          onChange={({ currentTarget }) => setEmail(currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={address === ""}>
          Erase
        </Button>
      </Group>
      <Confirm
        isOpen={isAsking}
        onClose={asking.close}
        title="Erase this person?"
        text={
          <p>
            The contact that has the address is removed, and the address is removed from everything
            that the project has stored. This cannot be undone.
          </p>
        }
        name={address}
        action="Erase the person"
        onConfirm={erase}
      />
    </form>
  );
}
