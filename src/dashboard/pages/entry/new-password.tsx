/** The field for a new password. The server checks its length and that it is not a common one. */

import { PasswordInput, type PasswordInputProps } from "@mantine/core";

export function NewPassword(props: PasswordInputProps) {
  return (
    <PasswordInput
      label="Password"
      description="At least 10 characters."
      autoComplete="new-password"
      required
      withAsterisk={false}
      {...props}
    />
  );
}
