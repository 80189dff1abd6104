/**
 * Builds the dashboard: bundles `src/dashboard/` for browsers and writes `NAME.br` and `NAME.gz` of
 * each file into `dist/ui`, which the server reads and the executable contains.
 *
 * `bun scripts/ui.ts [--release] [--if-needed] [--metafile FILE] [--page FILE --output FOLDER]`
 *
 * With --release, Brotli compresses at its highest level, which takes some 20 s. With --if-needed,
 * nothing is built if the sources are those of the last build. --metafile writes which files are in the
 * bundles. Tests build a page of their own with --page.
 */

import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const ROOT = resolve(import.meta.dir, "..");
const SOURCE = join(ROOT, "src", "dashboard");
const { values } = parseArgs({
  options: {
    release: { type: "boolean" },
    "if-needed": { type: "boolean" },
    metafile: { type: "string" },
    page: { type: "string" },
    output: { type: "string" },
  },
});

/** The page whose scripts and styles are bundled; its name is index.html. */
const PAGE = resolve(values.page ?? join(SOURCE, "index.html"));
const OUTPUT = resolve(values.output ?? join(ROOT, "dist", "ui"));
/** A file that every build writes last. */
const STAMP = "index.html.gz";

const ASSETS = "/app/assets/";
const FAST_LEVEL = 5;
const BEST_LEVEL = 11;

type Output = { name: string; content: Uint8Array };
type Bundled = { outputs: Output[]; metafile: Bun.BuildMetafile | undefined };

const brotliOf = promisify(brotliCompress);
const gzipOf = promisify(gzip);

/**
 * Packages that the email editor imports and the dashboard does not use: the export as React with its
 * formatter and CSS compiler, and the highlighting of code with 300 languages. The body is written by
 * `src/dashboard/ui/editors/visual/write-html.ts`.
 */
const UNUSED = /^(?:react-email|prismjs|hast-util-from-html)$/;

const withoutUnused: Bun.BunPlugin = {
  name: "without-unused",
  setup(build) {
    build.onResolve({ filter: UNUSED }, ({ path }) => ({ path, namespace: "unused" }));
    build.onLoad({ filter: /./, namespace: "unused" }, () => ({
      contents: "module.exports = {}",
      loader: "js",
    }));
  },
};

const options = {
  target: "browser" as const,
  minify: true,
  metafile: values.metafile !== undefined,
  define: { "process.env.NODE_ENV": '"production"' },
  plugins: [withoutUnused],
};

async function bundleApp(): Promise<Bundled> {
  const built = await Bun.build({
    ...options,
    entrypoints: [PAGE],
    splitting: true,
    publicPath: ASSETS,
    naming: {
      entry: "[name].[ext]",
      chunk: "[name]-[hash].[ext]",
      asset: "[name]-[hash].[ext]",
    },
  });
  return { outputs: await Promise.all(built.outputs.map(outputOf)), metafile: built.metafile };
}

/** The script that runs before the first paint. In the bundle of the page it would be deferred. */
async function bundleBoot(): Promise<Bundled> {
  const built = await Bun.build({
    ...options,
    entrypoints: [join(SOURCE, "boot.ts")],
    format: "iife",
    naming: "boot-[hash].[ext]",
  });
  return { outputs: await Promise.all(built.outputs.map(outputOf)), metafile: built.metafile };
}

async function outputOf(artifact: Bun.BuildArtifact): Promise<Output> {
  const name = artifact.path.slice(artifact.path.lastIndexOf("/") + 1);
  return { name, content: new Uint8Array(await artifact.arrayBuffer()) };
}

/** Inserts the script of boot.ts and the place of the nonce, which the server fills in. */
function completePage(page: Output, boot: Output): Output {
  const html = new TextDecoder().decode(page.content);
  const head =
    `</title><meta name="csp-nonce" content="__NONCE__">` +
    `<script src="${ASSETS}${boot.name}"></script>`;
  if (!html.includes("</title>")) throw new Error("index.html has no title");
  return { name: page.name, content: new TextEncoder().encode(html.replace("</title>", head)) };
}

/**
 * The outputs that the page can request. Bun writes the styles of a lazy chunk into the stylesheet
 * of the page and, a second time, into a file beside the chunk that nothing refers to.
 */
function withoutUnreferenced(outputs: readonly Output[]): Output[] {
  const texts = outputs
    .filter(({ name }) => /\.(?:html|js|css)$/.test(name))
    .map(({ content }) => new TextDecoder().decode(content));
  const isUsed = (name: string) => name === "index.html" || texts.some((t) => t.includes(name));
  return outputs.filter(({ name }) => !name.endsWith(".css") || isUsed(name));
}

async function write(folder: string, { name, content }: Output, level: number): Promise<void> {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: level,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.byteLength,
  };
  const [br, gz] = await Promise.all([
    brotliOf(content, { params }),
    gzipOf(content, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  await Promise.all([
    Bun.write(join(folder, `${name}.br`), br),
    Bun.write(join(folder, `${name}.gz`), gz),
  ]);
}

/** Replaces dist/ui as a whole, so that a server never finds the files of two builds. */
async function build(level: number): Promise<void> {
  const [app, booted] = await Promise.all([bundleApp(), bundleBoot()]);
  const page = app.outputs.find(({ name }) => name === "index.html");
  if (page === undefined) throw new Error("the bundle has no index.html");
  const [boot] = booted.outputs;
  if (boot === undefined) throw new Error("boot.ts has no output");
  const complete = completePage(page, boot);
  const others = app.outputs.filter((file) => file !== page);
  const files = withoutUnreferenced([...others, boot, complete]);
  await mkdir(join(ROOT, "dist"), { recursive: true });
  const draft = mkdtempSync(join(ROOT, "dist", ".ui-"));
  try {
    for (const file of files) await write(draft, file, level);
    rmSync(OUTPUT, { recursive: true, force: true });
    renameSync(draft, OUTPUT);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  await Bun.write(`${OUTPUT}.digest`, sourceDigest());
  if (values.metafile !== undefined) {
    await Bun.write(values.metafile, JSON.stringify([app.metafile, booted.metafile]));
  }
}

/** Everything that the build depends on. */
function sourceFiles(): string[] {
  const own = [SOURCE, dirname(PAGE)].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((file) => join(folder, file))
      .filter((path) => statSync(path).isFile()),
  );
  return [...own.toSorted(), join(ROOT, "bun.lock"), import.meta.path];
}

function sourceDigest(): string {
  const digest = createHash("sha256");
  for (const path of sourceFiles()) {
    const { size, mtimeMs } = statSync(path);
    digest.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return digest.digest("hex");
}

async function isCurrent(): Promise<boolean> {
  const stored = Bun.file(`${OUTPUT}.digest`);
  return (
    existsSync(join(OUTPUT, STAMP)) &&
    (await stored.exists()) &&
    (await stored.text()) === sourceDigest()
  );
}

if (values["if-needed"] !== true || !(await isCurrent())) {
  const startedMs = performance.now();
  await build(values.release === true ? BEST_LEVEL : FAST_LEVEL);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${OUTPUT}  ${seconds} s`);
}
