import { TextInput, type TextInputProps } from "@mantine/core";
import { domainIn } from "./domain-in.ts";

/** The field for a sending domain. A pasted URL or address is reduced to its domain. */
export function DomainField(props: TextInputProps & { onDomain: (domain: string) => void }) {
  const { onDomain, ...input } = props;
  return (
    <TextInput
      label="Domain"
      required
      withAsterisk={false}
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      onPaste={(event) => {
        const pasted = event.clipboardData.getData("text");
        const domain = domainIn(pasted);
        if (domain === pasted) return;
        event.preventDefault();
        onDomain(domain);
      }}
      {...input}
    />
  );
}
