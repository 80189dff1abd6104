/** A page with the visual editor, which a test opens. The test sets what is edited before it starts. */

import { MantineProvider } from "@mantine/core";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { schemeManager, theme } from "../../../../src/dashboard/theme.ts";

const VisualEditor = lazy(
  () => import("../../../../src/dashboard/ui/editors/visual/visual-editor.tsx"),
);

type Start = { design: object | null; body: string };

const FIELDS = [
  { name: "name", type: "string" },
  { name: "First Name", type: "string" },
  { name: "city", type: "string" },
  { name: "orders", type: "number" },
  { name: "vip", type: "boolean" },
  { name: "joined", type: "date" },
];

declare global {
  interface Window {
    letterStart?: Start;
    /** The editor gave these values to the page. */
    letterChanges: { design: object; body: string }[];
  }
}

window.letterChanges = [];
const { design, body } = window.letterStart ?? { design: null, body: "" };

async function uploadImage(file: File) {
  if (file.size > 5_000) throw new Error("The image is larger than 5 kB.");
  return { url: `/app/uploads/${file.name}`, width: 1_200, height: 600 };
}

const nonce = document.querySelector('meta[name="csp-nonce"]')?.getAttribute("content") ?? "";
const element = document.getElementById("root");
if (element !== null) {
  createRoot(element).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        colorSchemeManager={schemeManager}
        defaultColorScheme="auto"
        getStyleNonce={() => nonce}
      >
        <main className="main">
          <h1>Letter</h1>
          <Suspense fallback={null}>
            <VisualEditor
              design={design}
              body={body}
              label="Content of the letter"
              contactFields={FIELDS}
              uploadImage={uploadImage}
              onChange={(change) => window.letterChanges.push(change)}
            />
          </Suspense>
        </main>
      </MantineProvider>
    </StrictMode>,
  );
}
