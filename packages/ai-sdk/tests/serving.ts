/** A real `incumbent serve`, as a process of its own on a file of its own. */

import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PYTHON = process.env.INCUMBENT_PYTHON ?? join(ROOT, ".venv/bin/python");
/** The command, with a clock that may be ahead. */
const PROGRAM = `
import os, incumbent.opening
from datetime import timedelta
from incumbent.clock import system_clock
ahead = timedelta(days=int(os.environ["DAYS_AHEAD"]))
incumbent.opening.system_clock = lambda: system_clock() + ahead
from incumbent.cli import main
main()
`;

export class Serving {
  url = "";
  private process: ChildProcess | undefined;

  private constructor(readonly folder: string) {}

  static async start(): Promise<Serving> {
    const made = new Serving(await mkdtemp(join(tmpdir(), "incumbent-ai-sdk-")));
    await made.serve(0);
    return made;
  }

  /** Stop, and go on with the same file some days later. */
  async later(days: number): Promise<void> {
    await this.halt();
    await this.serve(days);
  }

  async stop(): Promise<void> {
    await this.halt();
    await rm(this.folder, { recursive: true });
  }

  /** Run another command of incumbent on the same file; what it prints. */
  async command(...given: string[]): Promise<string> {
    const run = this.spawn(0, [...given, "--db", join(this.folder, "agent.db")]);
    let printed = "";
    run.stdout?.on("data", (data) => (printed += data));
    const code = await new Promise((done) => run.on("close", done));
    if (code !== 0) throw new Error(`incumbent ${given.join(" ")}: ${code}`);
    return printed;
  }

  private async serve(days: number): Promise<void> {
    const running = this.spawn(days, [
      "serve",
      "--port",
      "0",
      "--db",
      join(this.folder, "agent.db"),
    ]);
    this.process = running;
    const told: string[] = [];
    for await (const line of createInterface({ input: running.stderr! })) {
      told.push(line);
      const found = /^Incumbent .* serves .* at (http\S+)/.exec(line);
      if (found?.[1] !== undefined) {
        this.url = found[1];
        running.stderr!.resume();
        return;
      }
    }
    throw new Error(`the service did not come up:\n${told.join("\n")}`);
  }

  private async halt(): Promise<void> {
    const running = this.process;
    if (running === undefined || running.exitCode !== null) return;
    const ended = new Promise((done) => running.on("close", done));
    running.kill("SIGTERM");
    await ended;
  }

  private spawn(days: number, given: string[]): ChildProcess {
    const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("INCUMBENT_"));
    return spawn(PYTHON, ["-c", PROGRAM, ...given], {
      cwd: this.folder,
      env: {
        ...Object.fromEntries(kept),
        DAYS_AHEAD: `${days}`,
        NO_COLOR: "1",
        PYTHONPATH: join(ROOT, "src"),
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
  }
}

/** Ask a service for an operation, as an application beside the middleware would. */
export async function ask(
  url: string,
  operation: string,
  body: object,
  key?: string,
): Promise<any> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (key !== undefined) headers.authorization = `Bearer ${key}`;
  const answer = await fetch(`${url}/v1/${operation}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}
