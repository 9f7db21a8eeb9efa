// Hyperloci for OpenCode. `hyperloci install --client opencode` writes this file, and `uninstall` deletes it.
// It hands what happens to the hook program and puts what that answers before the model. It keeps nothing itself.
import { spawn } from "node:child_process"

const COMMAND = ["HYPERLOCI_COMMAND"]
const PATIENCE_MS = 6000

export default {
  id: "hyperloci",
  server: async ({ client, directory }) => {
    const sessions = new Map()
    const waiting = new Set()

    // One event after the other: a session's end must not overtake its last answer.
    let last = Promise.resolve({})
    const send = (event, session, fields) => {
      const told = JSON.stringify({ session_id: session, cwd: directory, hook_event_name: event, ...fields })
      const done = (last = last.then(() => run(event, told)))
      waiting.add(done)
      done.finally(() => waiting.delete(done))
      return done
    }

    const open = async (id) => {
      let state = sessions.get(id)
      if (!state) {
        state = { context: [], answers: new Map(), roles: new Map(), prompts: new Set(), child: await hasParent(client, id) }
        sessions.set(id, state)
        if (!state.child) state.start = send("SessionStart", id, { source: "startup" }).then((text) => text && state.context.push(text))
      }
      await state.start
      return state
    }

    const prompt = async (id, message, parts) => {
      const state = await open(id)
      const text = parts.filter((part) => part.type === "text" && !part.synthetic && part.text).map((part) => part.text).join("\n")
      if (state.child || !text || state.prompts.has(message)) return
      state.prompts.add(message)
      state.prompt = message
      state.recalled = await send("UserPromptSubmit", id, { prompt: text, prompt_id: message })
    }

    const finish = async (id) => {
      const state = sessions.get(id)
      if (!state || state.child) return
      const said = [...state.answers.values()].join("\n").trim()
      state.answers.clear()
      state.recalled = ""
      if (said) await send("Stop", id, { last_assistant_message: said, prompt_id: state.prompt ?? "" })
    }

    return {
      "chat.message": (input, output) => prompt(input.sessionID, input.messageID ?? output.message.id, output.parts),
      "experimental.chat.system.transform": async (input, output) => {
        const state = input.sessionID && sessions.get(input.sessionID)
        if (state && !state.child) output.system.push(...[...state.context, state.recalled].filter(Boolean))
      },
      "experimental.session.compacting": async (input) => {
        await finish(input.sessionID)
      },
      "tool.execute.after": async (input, output) => {
        const state = await open(input.sessionID)
        if (!state.child)
          await send("PostToolUse", input.sessionID, {
            tool_name: input.tool,
            tool_input: input.args ?? {},
            tool_use_id: input.callID,
            tool_response: output?.metadata ?? {},
          })
      },
      event: async ({ event }) => {
        const about = event.properties ?? {}
        if (event.type === "message.updated") {
          const state = sessions.get(about.info.sessionID)
          state?.roles.set(about.info.id, about.info.role)
        } else if (event.type === "message.part.updated") {
          const part = about.part
          const state = sessions.get(part.sessionID)
          if (state && part.type === "text" && !part.synthetic && state.roles.get(part.messageID) === "assistant")
            state.answers.set(part.id, part.text)
        } else if (event.type === "session.idle") {
          await finish(about.sessionID)
        } else if (event.type === "session.deleted") {
          const state = sessions.get(about.info.id)
          if (state && !state.child) await send("SessionEnd", about.info.id, { reason: "deleted" })
          sessions.delete(about.info.id)
        }
      },
      dispose: async () => {
        for (const [id, state] of sessions) {
          await finish(id)
          if (!state.child) await send("SessionEnd", id, { reason: "exit" })
        }
        await Promise.allSettled([...waiting])
      },
    }
  },
}

async function hasParent(client, id) {
  try {
    const found = await client.session.get({ path: { id } })
    return Boolean(found?.data?.parentID)
  } catch {
    return false
  }
}

// Whatever becomes of the hook, the session goes on: no answer is an empty one.
function run(event, told) {
  return new Promise((resolve) => {
    const done = (text) => {
      clearTimeout(timer)
      resolve(text)
    }
    const timer = setTimeout(() => done(""), PATIENCE_MS)
    try {
      const child = spawn(COMMAND[0], [...COMMAND.slice(1), event], { stdio: ["pipe", "pipe", "ignore"], detached: true })
      let answer = ""
      child.on("error", () => done(""))
      child.stdout.on("data", (piece) => (answer += piece))
      child.on("close", () => {
        try {
          done(JSON.parse(answer).hookSpecificOutput?.additionalContext ?? "")
        } catch {
          done("")
        }
      })
      child.stdin.on("error", () => {})
      child.stdin.end(told)
    } catch {
      done("")
    }
  })
}
