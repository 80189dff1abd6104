/** The start page of a user without a project. */

import { FolderOpen } from "lucide-react";
import { useAppState } from "../../state.ts";
import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";

export function NoProjectPage() {
  const { user } = useAppState();
  const text =
    user?.isOwner === true
      ? "Create one in a terminal with: mailstead project create NAME"
      : "Ask an admin of a project to invite you.";
  return (
    <Page title="Projects">
      <Empty icon={FolderOpen} title="You are in no project yet" text={text} />
    </Page>
  );
}
