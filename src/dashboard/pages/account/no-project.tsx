/** The start page of a user without a project. */

import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { FolderOpen } from "lucide-react";
import { stateQuery, useAppState } from "../../state.ts";
import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { NewProject } from "../entry/new-project.tsx";

export function NoProjectPage() {
  const { user } = useAppState();
  const client = useQueryClient();
  const navigate = useNavigate();
  async function open({ id }: { id: string }): Promise<void> {
    await client.refetchQueries({ queryKey: stateQuery.queryKey });
    await navigate({ to: "/p/$project", params: { project: id } });
  }
  return (
    <Page title="Projects">
      {user?.isOwner === true ? (
        <div className="narrow">
          <p className="muted">
            There is no project yet. It has its own contacts, keys and domains.
          </p>
          <NewProject onDone={open} />
        </div>
      ) : (
        <Empty
          icon={FolderOpen}
          title="You are in no project yet"
          text="Ask an admin of a project to invite you."
        />
      )}
    </Page>
  );
}
