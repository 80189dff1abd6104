/** Asks whether the mails of a template are transactional or marketing mail. */

import { Radio, Stack } from "@mantine/core";
import type { Template } from "../../../modules/templates.ts";
import { KINDS } from "./columns.tsx";

type Kind = Template["type"];

export function KindChoice({ value, onChange }: { value: Kind; onChange: (kind: Kind) => void }) {
  return (
    <Radio.Group
      label="Kind of mail"
      value={value}
      onChange={(kind) => onChange(kind === "MARKETING" ? "MARKETING" : "TRANSACTIONAL")}
    >
      <Stack gap="xs" mt={6}>
        <Radio
          value="TRANSACTIONAL"
          label={KINDS.TRANSACTIONAL}
          description="Answers something that the contact did, such as an order. It also goes to people who unsubscribed."
        />
        <Radio
          value="MARKETING"
          label={KINDS.MARKETING}
          description="News and offers. It goes only to subscribed contacts, with a link to unsubscribe."
        />
      </Stack>
    </Radio.Group>
  );
}
