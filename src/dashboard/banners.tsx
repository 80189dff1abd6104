/** Messages above the page: a lost connection, a new version, and a connection without TLS. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { useIsConnected } from "./connection.ts";
import { stateQuery, useAppState, useProject } from "./state.ts";

const TLS_NOTICE_CLOSED = "mailstead-tls-notice-closed";

export function Banners() {
  return (
    <div role="status" aria-live="polite">
      <ConnectionBanner />
      <VersionBanner />
      <DisabledBanner />
      <RoleBanner />
      <TlsBanner />
    </div>
  );
}

function ConnectionBanner() {
  const isConnected = useIsConnected();
  const client = useQueryClient();
  if (isConnected) return null;
  return (
    <div className="banner" data-tone="failed">
      <p>The server cannot be reached. The page shows the last known state.</p>
      <button type="button" onClick={() => void client.refetchQueries({ type: "active" })}>
        Try again
      </button>
    </div>
  );
}

/** The scripts of this page belong to the version that served it. */
function VersionBanner() {
  const { version } = useAppState();
  const first = useRef(version);
  useQuery({ ...stateQuery, refetchOnReconnect: "always" });
  if (version === first.current) return null;
  return (
    <div className="banner" data-tone="seen">
      <p>The server was updated to version {version}.</p>
      <button type="button" onClick={() => window.location.reload()}>
        Reload the page
      </button>
    </div>
  );
}

function DisabledBanner() {
  const project = useProject();
  if (project?.isEnabled !== false) return null;
  return (
    <div className="banner" data-tone="held">
      <p>
        This project is disabled: no mail is sent, and nothing can be changed.{" "}
        {project.role === "OWNER"
          ? "Enable it again in its settings."
          : "An owner of the installation enables it again."}
      </p>
      {project.role === "OWNER" && (
        <Link to="/p/$project/settings/general" params={{ project: project.id }}>
          Its settings
        </Link>
      )}
    </div>
  );
}

/** The role of the user was changed while the page was open, so a dialog may have closed. */
function RoleBanner() {
  const project = useProject();
  const [known, setKnown] = useState(project);
  if (project === null) return null;
  if (known?.id !== project.id) {
    setKnown(project);
    return null;
  }
  if (known.role === project.role) return null;
  return (
    <div className="banner" data-tone="held">
      <p>
        Your role in this project was changed to {project.role.toLowerCase()}. The page offers what
        this role may do.
      </p>
      <button type="button" onClick={() => setKnown(project)}>
        Hide
      </button>
    </div>
  );
}

function TlsBanner() {
  const [isClosed, setIsClosed] = useState(() => localStorage.getItem(TLS_NOTICE_CLOSED) !== null);
  // A browser treats localhost as secure, also over plain HTTP.
  if (isClosed || window.isSecureContext) return null;
  function close(): void {
    localStorage.setItem(TLS_NOTICE_CLOSED, "1");
    setIsClosed(true);
  }
  return (
    <div className="banner" data-tone="held">
      <p>
        This connection is not encrypted: others on the network can read passwords. Put the server
        behind a proxy with TLS and set --url to its https address.
      </p>
      <button type="button" onClick={close}>
        Hide
      </button>
    </div>
  );
}
