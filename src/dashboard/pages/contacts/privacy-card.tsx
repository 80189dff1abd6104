/** The card by which an admin exports or erases all data of a contact. */

import { Button, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { getRouteApi } from "@tanstack/react-router";
import { Eraser } from "lucide-react";
import { useState } from "react";
import type { Contact } from "../../../modules/contacts/model.ts";
import type { ErasureReceipt } from "../../../modules/privacy/erasure-model.ts";
import { api } from "../../api.ts";
import { useMay } from "../../state.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { showFailure } from "../../ui/undo.tsx";

const route = getRouteApi("/user/p/$project/contacts/$contact");

export function PrivacyCard({ contact }: { contact: Contact }) {
  const isAdmin = useMay("ADMIN");
  if (!isAdmin) return null;
  return (
    <section className="card contact-card" aria-labelledby="contact-privacy">
      <div className="contact-card-head">
        <h2 id="contact-privacy">Requests of the person</h2>
      </div>
      <Group gap="xs">
        <ExportButton id={contact.id} format="html" label="Export as a page" />
        <ExportButton id={contact.id} format="json" label="Export as JSON" />
        <EraseButton contact={contact} />
      </Group>
    </section>
  );
}

function ExportButton(props: { id: string; format: "html" | "json"; label: string }) {
  const { id, format, label } = props;
  const [isBusy, setIsBusy] = useState(false);

  async function save(): Promise<void> {
    setIsBusy(true);
    try {
      const response = await api.file(`/contacts/${id}/export`, { query: { format } });
      const type = format === "html" ? "text/html" : "application/json";
      saveFile([await response.blob()], `stored-about-contact.${format}`, type);
    } catch (error) {
      showFailure("The export failed", error);
    } finally {
      setIsBusy(false);
    }
  }

  return (
    <Button variant="default" size="xs" loading={isBusy} onClick={() => void save()}>
      {label}
    </Button>
  );
}

function EraseButton({ contact: { id, email } }: { contact: Contact }) {
  const navigate = route.useNavigate();
  const { project } = route.useParams();
  const [isAsking, asking] = useDisclosure(false);

  async function erase(): Promise<void> {
    await api.post<ErasureReceipt>(`/contacts/${id}/erasure`);
    await navigate({ to: "/p/$project/settings/privacy", params: { project } });
  }

  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<Eraser size={14} aria-hidden />}
        onClick={asking.open}
      >
        Erase the person
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={asking.close}
        title="Erase this person?"
        text={
          <>
            <p>
              The contact, its consents and the bodies of its mails are removed, and its address is
              removed from everything that the project has stored: events, texts, logs, caught mail.
            </p>
            <p>
              A receipt without personal data stays, and the person is not subscribed again if they
              had left. This cannot be undone.
            </p>
          </>
        }
        name={email}
        action="Erase the person"
        onConfirm={erase}
      />
    </>
  );
}
