-- What was said before, here and in the terminal programs. The server keeps it; here it is
-- recalled and searched.

local client = require('xcsh.client')
local text = require('xcsh.text')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

---How many prompts are asked for: as many as a person goes through with a key.
local most = 200

---The newest prompts of a folder's history, the newest last. The callback is called with
---none where there is no history: recalling is a convenience.
---@param cwd string
---@param callback fun(prompts: string[])
function M.recent(cwd, callback)
  client.execute('xcsh.history', { cwd = cwd, limit = most }, function(err, result)
    local prompts = {}
    for _, past in ipairs(err and {} or wire.tbl(result.prompts)) do
      table.insert(prompts, 1, past.prompt)
    end
    callback(prompts)
  end)
end

---@param cwd string
local function line_in(cwd)
  ---@param past xcsh.PastPrompt
  return function(past)
    local parts = { text.one_line(past.prompt, 200) }
    if past.unanswered == true then
      parts[#parts + 1] = 'never answered'
    end
    local where = wire.str(past.cwd)
    if where ~= '' and where ~= cwd then
      parts[#parts + 1] = text.one_line(where, 200)
    end
    return table.concat(parts, ' · ')
  end
end

---Lets the person choose among what was said, and puts it into the prompt of the chat.
---@param query string words that are looked for; "" offers the newest
function M.choose(query)
  local cwd = require('xcsh.config').root()
  client.execute('xcsh.history', { cwd = cwd, query = query, limit = most }, function(err, result)
    if err then
      return view.error(err)
    end
    local prompts = wire.tbl(result.prompts)
    if #prompts == 0 then
      local problem = wire.str(result.problem)
      return view.notify(problem ~= '' and problem or 'Nothing was found.')
    end
    require('xcsh.pickers').pick({
      prompt = 'Prompt History',
      kind = 'xcsh.prompt',
      items = prompts,
      format = line_in(cwd),
      preview = function(past, show)
        show(text.lines(past.prompt))
      end,
      actions = {},
      on_choice = function(past)
        if past then
          local chat = require('xcsh.chat').open(cwd)
          require('xcsh.chat.input').set(chat, past.prompt)
        end
      end,
    })
  end)
end

return M
