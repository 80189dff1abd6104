/** One user of the installation, with everything that an owner may do about it. */

import { Button, Group, Stack } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { api } from "../../api.ts";
import { useAppState } from "../../state.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Fields } from "../../ui/fields.tsx";
import { Problem } from "../../ui/problem.tsx";
import { SideDrawer } from "../../ui/side-drawer.tsx";
import { Time } from "../../ui/time.tsx";
import { useOpenRow } from "../../ui/use-open-row.ts";
import { roleWord } from "../settings/roles.ts";
import { ShownLink, type SignInLink } from "./sign-in-link.tsx";
import { shownUser, UserState } from "./user-columns.tsx";
import type { InstallationUser } from "./user-search.ts";

const OPEN = { project: null };

export function UserDrawer(props: {
  id: string | undefined;
  rows: readonly InstallationUser[];
  onOpen: (id: string) => void;
  onClose: () => void;
  onChanged: () => Promise<void>;
}) {
  const { id, rows, onOpen, onClose, onChanged } = props;
  const { found, last, next, previous } = useOpenRow(id, rows);
  const user = found ?? last;
  return (
    <SideDrawer
      isOpen={found !== undefined}
      onClose={onClose}
      label="User"
      size={600}
      title={<h2 className="drawer-heading">{user === undefined ? "User" : shownUser(user)}</h2>}
      onNext={next === undefined ? undefined : () => onOpen(next)}
      onPrevious={previous === undefined ? undefined : () => onOpen(previous)}
    >
      {user !== undefined && (
        <>
          <Facts user={user} />
          <UserActions key={user.id} user={user} onChanged={onChanged} />
        </>
      )}
    </SideDrawer>
  );
}

function Facts({ user }: { user: InstallationUser }) {
  const { email, isOwner, projects, hasSecondFactor, hasPassword, sessions } = user;
  return (
    <section className="section">
      <Fields>
        <Field label="Email address">{email}</Field>
        <Field label="State">
          <UserState user={user} />
        </Field>
        <Field label="Roles">
          {isOwner && <div>Owner of the installation</div>}
          {projects.map(({ id, name, role }) => (
            <div key={id}>
              {roleWord(role)} of{" "}
              <Link to="/p/$project/settings/team" params={{ project: id }}>
                {name}
              </Link>
            </div>
          ))}
          {!isOwner && projects.length === 0 && "No role"}
        </Field>
        <Field label="Second factor">{hasSecondFactor ? "On" : "Off"}</Field>
        <Field label="Password">
          {hasPassword ? "Set" : "None: signs in with links or passkeys"}
        </Field>
        <Field label="Sessions">{sessions}</Field>
        <Field label="Last sign-in">
          <MaybeTime at={user.lastSignInAt} />
        </Field>
        <Field label="Last seen">
          <MaybeTime at={user.lastSeenAt} />
        </Field>
        <Field label="Created">
          <Time at={user.createdAt} />
        </Field>
      </Fields>
      <p>
        <Link to="/admin/audit" search={{ actor: user.id }}>
          What this user has changed
        </Link>
      </p>
    </section>
  );
}

const MaybeTime = ({ at }: { at: string | null }) => (at === null ? "Never" : <Time at={at} />);

type Question = {
  title: string;
  text: ReactNode;
  action: string;
  color?: "red" | "brand";
  run: () => Promise<unknown>;
};

function UserActions(props: { user: InstallationUser; onChanged: () => Promise<void> }) {
  const { user, onChanged } = props;
  const { user: self } = useAppState();
  const [question, setQuestion] = useState<Question | null>(null);
  const [isAsking, setIsAsking] = useState(false);
  const [link, setLink] = useState<SignInLink | null>(null);
  const [error, setError] = useState<unknown>(null);
  const isSelf = self?.id === user.id;
  const { isDisabled, isOwner } = user;

  function ask(next: Question): void {
    setQuestion(next);
    setIsAsking(true);
  }
  async function copyLink(): Promise<void> {
    setError(null);
    try {
      setLink(await api.post<SignInLink>(`/app/api/users/${user.id}/link`, {}, OPEN));
    } catch (caught) {
      setError(caught);
    }
  }
  const questions = questionsAbout(user);
  const buttons = [
    { label: "End all sessions", question: questions.sessions, isShown: user.sessions > 0 },
    {
      label: "Reset the second factor",
      question: questions.factor,
      isShown: user.hasSecondFactor && !isSelf,
    },
    {
      label: isOwner ? "Remove as owner" : "Make an owner",
      question: questions.owner,
      isShown: true,
    },
    { label: isDisabled ? "Enable" : "Disable", question: questions.state, isShown: !isSelf },
  ].filter(({ isShown }) => isShown);
  return (
    <section className="section">
      <Stack gap="md">
        {error !== null && <Problem error={error} />}
        <Group gap="xs">
          {!isDisabled && (
            <Button variant="default" onClick={() => void copyLink()}>
              Make a sign-in link
            </Button>
          )}
          {buttons.map(({ label, question: asked }) => (
            <Button key={label} variant="default" onClick={() => ask(asked)}>
              {label}
            </Button>
          ))}
        </Group>
      </Stack>
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title={question?.title ?? ""}
        text={question?.text}
        action={question?.action ?? ""}
        color={question?.color ?? "red"}
        onConfirm={async () => {
          await question?.run();
          await onChanged();
        }}
      />
      <Dialog
        opened={link !== null}
        onClose={() => setLink(null)}
        closeOnClickOutside={false}
        title="Sign-in link"
        size={560}
      >
        {link !== null && (
          <ShownLink email={user.email} given={link} onDone={() => setLink(null)} />
        )}
      </Dialog>
    </section>
  );
}

/** The texts of each action, and its request. */
function questionsAbout(
  user: InstallationUser,
): Record<"sessions" | "factor" | "owner" | "state", Question> {
  const name = shownUser(user);
  const path = `/app/api/users/${user.id}`;
  const patch = (body: object) => () => api.patch(path, body, OPEN);
  return {
    sessions: {
      title: `End all sessions of ${name}?`,
      text: "The user has to sign in again, in every browser.",
      action: "End all sessions",
      run: () => api.delete(`${path}/sessions`, OPEN),
    },
    factor: {
      title: `Reset the second factor of ${name}?`,
      text: "The authenticator app, the passkeys and the recovery codes stop working, and all sessions end. Do this only if you are sure that the request comes from this person.",
      action: "Reset the second factor",
      run: () => api.delete(`${path}/second-factor`, OPEN),
    },
    owner: user.isOwner
      ? {
          title: `Remove ${name} as an owner?`,
          text: "The user keeps the roles in projects, and loses everything else.",
          action: "Remove as owner",
          run: patch({ isOwner: false }),
        }
      : {
          title: `Make ${name} an owner?`,
          text: "An owner may do everything in all projects, and manages users and the server.",
          action: "Make an owner",
          color: "brand",
          run: patch({ isOwner: true }),
        },
    state: user.isDisabled
      ? {
          title: `Enable ${name}?`,
          text: "The user may sign in again, with the password and the roles of before.",
          action: "Enable the user",
          color: "brand",
          run: patch({ isDisabled: false }),
        }
      : {
          title: `Disable ${name}?`,
          text: "All sessions and links of the user end, and new sign-ins are refused. What the user made stays.",
          action: "Disable the user",
          run: patch({ isDisabled: true }),
        },
  };
}
