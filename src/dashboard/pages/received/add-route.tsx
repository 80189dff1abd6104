/** The dialog that adds an inbound route. */

import { Radio, Stack, TextInput } from "@mantine/core";
import type { InboundRoute } from "../../../modules/inbound-routes/model.ts";
import { api } from "../../api.ts";
import { useAppState } from "../../state.ts";
import { CopyText } from "../../ui/copy.tsx";
import { DialogForm } from "../../ui/dialog-form.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";

type Props = { isOpen: boolean; onClose: () => void; onAdded: (route: InboundRoute) => void };

export function AddRoute({ isOpen, onClose, onAdded }: Props) {
  return (
    <Dialog opened={isOpen} onClose={onClose} title="Add a route" size="md">
      <AddForm onClose={onClose} onAdded={onAdded} />
    </Dialog>
  );
}

function AddForm({ onClose, onAdded }: Omit<Props, "isOpen">) {
  const form = useApiForm({
    // `action` is the address to forward to, because the interface names its errors so.
    initial: { address: "", isForwarded: false, action: "" },
    submit: ({ address, isForwarded, action }, idempotencyKey) =>
      api.post<InboundRoute>(
        "/inbound-routes",
        {
          address: address.trim(),
          action: isForwarded ? { forward: action.trim() } : { webhook: true },
        },
        { idempotencyKey },
      ),
    onDone: onAdded,
  });
  const { isForwarded } = form.values;
  return (
    <DialogForm form={form} action="Add the route" onCancel={onClose}>
      <TextInput
        label="Address"
        description="Or *@in.shop.example for all addresses of a domain that have no route of their own."
        placeholder="support@in.shop.example"
        required
        withAsterisk={false}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        {...form.field("address")}
      />
      <MailRecord />
      <Radio.Group
        label="What happens with its mail"
        value={isForwarded ? "forward" : "event"}
        onChange={(value) => form.form.setFieldValue("isForwarded", value === "forward")}
      >
        <Stack gap={6} mt={6}>
          <Radio value="event" label="It is listed here and becomes the event email.received" />
          <Radio value="forward" label="The same, and it is forwarded to another address" />
        </Stack>
      </Radio.Group>
      {isForwarded && (
        <TextInput
          label="Forward to"
          type="email"
          placeholder="team@example.net"
          required
          withAsterisk={false}
          autoComplete="off"
          spellCheck={false}
          {...form.field("action")}
        />
      )}
    </DialogForm>
  );
}

/** The DNS record that the domain needs before the route can be added. */
function MailRecord() {
  const { receivesAs } = useAppState();
  if (receivesAs === null) return <NotReceiving />;
  return (
    <div className="received-record">
      <p>
        The domain, or one above it, must be verified, and its mail must come to this server:
        publish this MX record first. Take a domain that has no mailboxes.
      </p>
      <CopyText value={`MX 10 ${receivesAs}.`} label="Copy the MX record" />
    </div>
  );
}

/** Says why no mail can arrive. */
export function NotReceiving() {
  return (
    <p className="received-off">
      This server receives no mail from other servers. Its operator starts it with{" "}
      <code>--inbound 0.0.0.0:25</code> to change that.
    </p>
  );
}
