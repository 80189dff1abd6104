/** The recovery codes, which are shown once. */

import { Button, Group, Stack } from "@mantine/core";
import { Check, Copy, Download } from "lucide-react";
import { useCopy } from "../../ui/copy.tsx";
import { saveFile } from "../../ui/save-file.ts";
import "./styles.ts";

export function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) {
  const { isCopied, copy } = useCopy();
  const text = `${codes.join("\n")}\n`;
  return (
    <Stack gap="md" mt="xs">
      <p>
        Each of these codes replaces your second factor once, when you have lost your phone or key.
        Store them in a password manager or print them: they are shown only now.
      </p>
      <ul className="recovery-codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <Group gap="xs">
        <Button
          variant="default"
          leftSection={isCopied ? <Check size={16} /> : <Copy size={16} />}
          onClick={() => void copy(text)}
        >
          {isCopied ? "Copied" : "Copy all"}
        </Button>
        <Button
          variant="default"
          leftSection={<Download size={16} aria-hidden />}
          onClick={() => saveFile([text], "mailstead-recovery-codes.txt", "text/plain")}
        >
          Save as a file
        </Button>
      </Group>
      <Group justify="flex-end">
        <Button onClick={onDone}>I have stored them</Button>
      </Group>
    </Stack>
  );
}
