/** The side bar: project switcher, pages of the project, and the menu of the user. */

import { Kbd, Menu, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import {
  Check,
  ChevronsUpDown,
  LogOut,
  Monitor,
  Moon,
  Search,
  Server,
  SlidersHorizontal,
  ShieldAlert,
  Sun,
  UserRound,
  UsersRound,
} from "lucide-react";
import { api } from "./api.ts";
import { navigationOf } from "./navigation.ts";
import { useAppState, useNavigationProject } from "./state.ts";
import { activeRulesText, useActiveRules } from "./use-inboxes.ts";

const INBOX = "/p/$project/inboxes/{-$inbox}";
const IS_APPLE = /Mac|iPhone|iPad/.test(navigator.userAgent);

export function Sidebar({ onSearch }: { onSearch: () => void }) {
  const state = useAppState();
  const project = useNavigationProject();
  return (
    <div className="side">
      <div className="side-top">
        <ProjectSwitcher />
        <UnstyledButton className="side-search" onClick={onSearch}>
          <Search size={14} aria-hidden />
          <span>Search</span>
          <Kbd size="xs">{IS_APPLE ? "⌘K" : "Ctrl K"}</Kbd>
        </UnstyledButton>
      </div>
      <nav className="side-items" aria-label="Pages">
        {project !== null &&
          navigationOf(state, project).map((items) => (
            <ul key={items[0]?.to}>
              {items.map(({ label, to, icon: Icon }) => (
                <li key={to}>
                  <Link
                    className="side-item"
                    to={to}
                    params={{ project: project.id }}
                    activeOptions={{ exact: to === "/p/$project", includeSearch: false }}
                  >
                    <Icon size={16} aria-hidden />
                    {label}
                    {to === INBOX && <FailureBadge />}
                  </Link>
                </li>
              ))}
            </ul>
          ))}
      </nav>
      <div className="side-bottom">
        <UserMenu />
      </div>
    </div>
  );
}

/** Says that failure rules make SMTP fail, which is easily forgotten after a test. */
function FailureBadge() {
  const count = useActiveRules();
  if (count === 0) return null;
  const text = activeRulesText(count);
  return (
    <span className="side-badge" title={text}>
      <ShieldAlert size={12} aria-hidden />
      {count}
      <span className="visually-hidden"> {text}</span>
    </span>
  );
}

function ProjectSwitcher() {
  const { projects } = useAppState();
  const project = useNavigationProject();
  const navigate = useNavigate();
  const name = project?.name ?? "Choose a project";
  return (
    <Menu position="bottom-start" width={240}>
      <Menu.Target>
        <UnstyledButton className="side-button" aria-label={`Project: ${name}`}>
          <span className="tile" aria-hidden>
            {initialOf(project?.name ?? "M")}
          </span>
          <span className="names">
            <strong className="cut" style={{ display: "block" }}>
              {name}
            </strong>
          </span>
          <ChevronsUpDown size={14} aria-hidden className="muted" />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Projects</Menu.Label>
        {projects.map(({ id, name: label, isEnabled }) => (
          <Menu.Item
            key={id}
            leftSection={<span className="tile">{initialOf(label)}</span>}
            rightSection={id === project?.id ? <Check size={14} aria-label="current" /> : null}
            onClick={() => void navigate({ to: "/p/$project", params: { project: id } })}
          >
            {label}
            {!isEnabled && <span className="muted"> (disabled)</span>}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function UserMenu() {
  const { user, version } = useAppState();
  const navigate = useNavigate();
  const signOut = useSignOut();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const schemes = [
    { value: "light", label: "Light", icon: Sun },
    { value: "dark", label: "Dark", icon: Moon },
    { value: "auto", label: "Like the system", icon: Monitor },
  ] as const;
  if (user === null) return null;
  return (
    <Menu position="top-start" width={208}>
      <Menu.Target>
        <UnstyledButton className="side-button" aria-label={`Account: ${user.name}`}>
          <span className="tile" data-round aria-hidden>
            {initialOf(user.name)}
          </span>
          <span className="names">
            <span className="cut" style={{ display: "block" }}>
              {user.name}
            </span>
            <span className="cut muted small" style={{ display: "block" }}>
              {user.email}
            </span>
          </span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<UserRound size={15} />}
          onClick={() => void navigate({ to: "/account" })}
        >
          Account
        </Menu.Item>
        {user.isOwner && (
          <Menu.Item
            leftSection={<Server size={15} />}
            onClick={() => void navigate({ to: "/admin/system" })}
          >
            System
          </Menu.Item>
        )}
        {user.isOwner && (
          <Menu.Item
            leftSection={<SlidersHorizontal size={15} />}
            onClick={() => void navigate({ to: "/admin/settings" })}
          >
            Server settings
          </Menu.Item>
        )}
        {user.isOwner && (
          <Menu.Item
            leftSection={<UsersRound size={15} />}
            onClick={() => void navigate({ to: "/admin/users" })}
          >
            Users
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Label>Appearance</Menu.Label>
        {schemes.map(({ value, label, icon: Icon }) => (
          <Menu.Item
            key={value}
            closeMenuOnClick={false}
            leftSection={<Icon size={15} />}
            rightSection={colorScheme === value ? <Check size={14} aria-label="chosen" /> : null}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<LogOut size={15} />} onClick={() => void signOut()}>
          Sign out
        </Menu.Item>
        <Menu.Label>Mailstead {version}</Menu.Label>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Ends the session, forgets all responses and opens the sign-in page. */
export function useSignOut(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await api.post("/app/api/logout", {}, { project: null });
    client.clear();
    window.location.assign("/app/login");
  };
}

const initialOf = (name: string) => name.trim().charAt(0).toUpperCase() || "?";
