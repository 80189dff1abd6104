/** Sends the template as a mail to the user, or to another address. */

import { Button, Menu } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { ChevronDown, Send } from "lucide-react";
import { memo, useRef, useState } from "react";
import { ApiError, api, newIdempotencyKey } from "../../../api.ts";
import { useAppState } from "../../../state.ts";
import { ContactSelect } from "../../../ui/contact-preview.tsx";
import { AddressField, DialogForm } from "../../../ui/dialog-form.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { saveAll } from "../../../ui/editors/save-all.ts";
import { showDone, showFailure } from "../../../ui/undo.tsx";
import { useApiForm } from "../../../ui/use-api-form.ts";
import type { TemplateEditing } from "./template-editing.ts";
import { TEMPLATE_LABELS, templatePath } from "./template-source.ts";

type Props = {
  id: string;
  saveNow: TemplateEditing["saveNow"];
  contactId: string | undefined;
};

/** The address that gets a test, and the contact whose values the test has. */
type Test = { to: string; contactId: string | undefined };

/** Text that is typed does not draw it again. */
export const TemplateTest = memo(function TemplateTest({ id, saveNow, contactId }: Props) {
  const { user } = useAppState();
  const [isAsking, dialog] = useDisclosure(false);
  const [isBusy, setIsBusy] = useState(false);
  // A second click during the request sends no second mail.
  const key = useRef(newIdempotencyKey());
  const send = useSend({ id, saveNow });

  async function sendToMe(): Promise<void> {
    setIsBusy(true);
    try {
      await send({ to: user?.email ?? "", contactId }, key.current);
      key.current = newIdempotencyKey();
      showDone(`Sent to ${user?.email ?? "you"}.`);
    } catch (error) {
      showFailure("The test was not sent", error);
    } finally {
      setIsBusy(false);
    }
  }

  return (
    <>
      <Button.Group>
        <Button
          variant="default"
          loading={isBusy}
          leftSection={<Send size={15} aria-hidden />}
          onClick={() => void sendToMe()}
        >
          Send me this
        </Button>
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" className="test-more" aria-label="Other ways to send a test">
              <ChevronDown size={15} aria-hidden />
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={dialog.open}>Send a test to another address</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Button.Group>
      <Dialog opened={isAsking} onClose={dialog.close} title="Send a test" size="md">
        <TestForm contactId={contactId} send={send} onDone={dialog.close} />
      </Dialog>
    </>
  );
});

/** Saves first, because the server makes the mail of the stored template. */
function useSend({ id, saveNow }: Pick<Props, "id" | "saveNow">) {
  return async ({ to, contactId }: Test, idempotencyKey: string): Promise<void> => {
    await saveAll({ saveNow }, TEMPLATE_LABELS);
    const body = { to, ...(contactId === undefined || contactId === "" ? {} : { contactId }) };
    try {
      await api.post(`${templatePath(id)}/test`, body, { idempotencyKey });
    } catch (error) {
      throw isWithoutSender(error) ? new Error(NO_SENDER) : error;
    }
  };
}

const NO_SENDER =
  "No sender yet: name one in the settings of this template, or set one for the project.";

const isWithoutSender = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.errors.some(({ field, code }) => field === "from" && code === "required");

function TestForm(props: {
  /** The contact of the preview. */
  contactId: string | undefined;
  send: (test: Test, idempotencyKey: string) => Promise<void>;
  onDone: () => void;
}) {
  const { send, onDone } = props;
  const [contactId, setContactId] = useState(props.contactId);
  const form = useApiForm({
    initial: { to: "" },
    submit: ({ to }, idempotencyKey) => send({ to: to.trim(), contactId }, idempotencyKey),
    onDone() {
      showDone("The test was sent.");
      onDone();
    },
  });
  return (
    <DialogForm
      form={form}
      action="Send the test"
      isIncomplete={form.values.to.trim() === ""}
      onCancel={onDone}
    >
      <p className="muted">One mail, whose subject begins with [TEST].</p>
      <AddressField {...form.field("to")} />
      <ContactSelect
        label="With the data of"
        nobody="The contact with this address, if there is one"
        contactId={contactId}
        onContact={setContactId}
      />
    </DialogForm>
  );
}
