/** The mails that arrived, live, newest first. A mail opens in a drawer; the URL has the page's state. */

import { Button } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { MailPlus } from "lucide-react";
import type { ReceivedMail } from "../../../modules/inbound-routes/model.ts";
import { useMay } from "../../state.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { NewPill } from "../../ui/new-pill.tsx";
import { useLiveList } from "../../ui/use-live-list.ts";
import { RECEIVED_COLUMNS, receivedLines } from "./columns.tsx";
import { ReceivedDrawer } from "./received-drawer.tsx";
import { ReceivedFrame } from "./received-frame.tsx";
import { NoRoutes } from "./routes-empty.tsx";
import { readReceivedSearch } from "./search.ts";
import { LIST_PATH, useRoutes } from "./use-received.ts";

const route = getRouteApi("/user/p/$project/received");

export function ReceivedPage() {
  return (
    <ReceivedFrame>
      <ReceivedList />
    </ReceivedFrame>
  );
}

function ReceivedList() {
  const search = route.useSearch();
  const { project } = route.useParams();
  const navigate = route.useNavigate();
  const list = useLiveList<ReceivedMail>({
    path: LIST_PATH,
    isAbout: ({ type }) => type === "email.received" || type === "reload",
  });
  const change = (next: Readonly<Record<string, unknown>>, isReplaced = false) =>
    void navigate({ search: readReceivedSearch(next), replace: isReplaced });
  return (
    <>
      <div className="live-table">
        <NewPill count={list.newCount} onShow={list.showNew} />
        <DataTable
          label="Received mails"
          list={list}
          columns={RECEIVED_COLUMNS}
          rowKey={({ id }) => id}
          href={({ id }) => `/app/p/${project}/received?mail=${id}`}
          onOpen={({ id }) => change({ ...search, mail: id })}
          openKey={search.mail}
          phone={receivedLines}
          empty={<NothingReceived project={project} />}
        />
      </div>
      <ReceivedDrawer
        id={search.mail}
        tab={search.tab}
        rows={list.rows}
        onOpen={(mail) => change({ ...search, mail }, true)}
        onClose={() => change({})}
      />
    </>
  );
}

/** Without a route nothing can arrive, so a route comes first. */
function NothingReceived({ project }: { project: string }) {
  const routes = useRoutes();
  const mayAdd = useMay("ADMIN");
  if (routes.isLoading) return null;
  if (routes.rows.length === 0) {
    return (
      <NoRoutes
        action={
          mayAdd && (
            <Button
              renderRoot={(rest) => (
                <Link
                  {...rest}
                  to="/p/$project/received/routes"
                  params={{ project }}
                  state={{ isCreating: true }}
                />
              )}
            >
              Add a route
            </Button>
          )
        }
      />
    );
  }
  return (
    <Empty
      icon={MailPlus}
      title="No mail received yet"
      text={`Mail to ${routes.rows[0]?.address ?? "your addresses"} is listed here as it arrives, and kept for 30 days.`}
    />
  );
}
