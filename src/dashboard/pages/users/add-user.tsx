/** The dialog that creates a user. Its second step shows the sign-in link. */

import { Checkbox, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { api } from "../../api.ts";
import { useAppState } from "../../state.ts";
import { AddressField, DialogForm } from "../../ui/dialog-form.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { ROLE_CHOICES } from "../settings/roles.ts";
import { ShownLink, type SignInLink } from "./sign-in-link.tsx";
import type { InstallationUser } from "./user-search.ts";

type Added = SignInLink & { user: InstallationUser };

export function AddUser(props: {
  isOpen: boolean;
  onClose: () => void;
  onAdded: () => Promise<void>;
}) {
  const { isOpen, onClose, onAdded } = props;
  const [added, setAdded] = useState<Added | null>(null);
  return (
    <Dialog
      opened={isOpen}
      onClose={onClose}
      onExitTransitionEnd={() => setAdded(null)}
      closeOnClickOutside={false}
      title={added === null ? "Add a user" : "The user is added"}
      size={added === null ? 480 : 560}
    >
      {added === null ? (
        <UserForm
          onCancel={onClose}
          onAdded={async (user) => {
            setAdded(user);
            await onAdded();
          }}
        />
      ) : (
        <ShownLink email={added.user.email} given={added} onDone={onClose} />
      )}
    </Dialog>
  );
}

function UserForm(props: { onCancel: () => void; onAdded: (added: Added) => Promise<void> }) {
  const { onCancel, onAdded } = props;
  const { projects } = useAppState();
  const form = useApiForm({
    initial: { email: "", name: "", isOwner: false, project: "", role: "VIEWER" },
    submit: ({ email, name, isOwner, project, role }, idempotencyKey) =>
      api.post<Added>(
        "/app/api/users",
        {
          email: email.trim(),
          ...(name.trim() === "" ? {} : { name: name.trim() }),
          isOwner,
          ...(isOwner || project === "" ? {} : { member: { project, role } }),
        },
        { idempotencyKey, project: null },
      ),
    onDone: onAdded,
  });
  const { isOwner, project } = form.values;
  return (
    <DialogForm form={form} action="Add the user" onCancel={onCancel}>
      <AddressField {...form.field("email")} />
      <TextInput label="Name" autoComplete="off" maxLength={100} {...form.field("name")} />
      <Checkbox
        label="Owner of the installation"
        description="May do everything in all projects, and manages users and the server."
        {...form.form.getInputProps("isOwner", { type: "checkbox" })}
      />
      {!isOwner && (
        <Select
          label="Project"
          description="More projects can be added on their team pages."
          placeholder="No project yet"
          clearable
          data={projects.map(({ id, name }) => ({ value: id, label: name }))}
          {...form.field("project")}
          value={project === "" ? null : project}
          onChange={(value) => form.form.setFieldValue("project", value ?? "")}
        />
      )}
      {!isOwner && project !== "" && (
        <Select
          label="Role in the project"
          allowDeselect={false}
          data={ROLE_CHOICES.map(({ value, label }) => ({ value, label }))}
          {...form.field("role")}
        />
      )}
    </DialogForm>
  );
}
