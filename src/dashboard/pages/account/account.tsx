/** The account of the user: name, password, sessions, appearance and shortcuts. */

import { SegmentedControl, Switch, useMantineColorScheme } from "@mantine/core";
import { setShortcutsOn, useAreShortcutsOn } from "../../shortcuts.ts";
import { useAppState } from "../../state.ts";
import { Field, Fields } from "../../ui/fields.tsx";
import { Page } from "../../ui/page.tsx";
import { PasswordForm } from "./password-form.tsx";
import { ProfileForm } from "./profile-form.tsx";
import { SecondFactorSection } from "./second-factor-section.tsx";
import { Sessions } from "./sessions.tsx";

export function AccountPage() {
  const { user } = useAppState();
  if (user === null) return null;
  return (
    <Page title="Account" description={user.email}>
      <div className="narrow">
        <section className="section">
          <h2>Profile</h2>
          <ProfileForm name={user.name} />
        </section>
        <section className="section">
          <h2>Appearance and keyboard</h2>
          <Preferences />
        </section>
        <section className="section">
          <h2>Password</h2>
          <PasswordForm email={user.email} />
        </section>
        <section className="section">
          <h2>Second factor</h2>
          <SecondFactorSection />
        </section>
        <section className="section">
          <h2>Sessions</h2>
          <Sessions />
        </section>
      </div>
    </Page>
  );
}

function Preferences() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const areOn = useAreShortcutsOn();
  return (
    <Fields>
      <Field label="Theme">
        <SegmentedControl
          aria-label="Theme"
          value={colorScheme}
          onChange={(value) =>
            setColorScheme(value === "auto" || value === "dark" ? value : "light")
          }
          data={[
            { value: "light", label: "Light" },
            { value: "dark", label: "Dark" },
            { value: "auto", label: "Like the system" },
          ]}
        />
      </Field>
      <Field label="Shortcuts">
        <Switch
          label="Shortcuts of single keys, such as j, k and g e"
          checked={areOn}
          onChange={({ currentTarget }) => setShortcutsOn(currentTarget.checked)}
        />
      </Field>
    </Fields>
  );
}
