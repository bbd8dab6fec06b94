-- The prompt history, shared with the terminal programs. The server stores it; this file recalls
-- and searches prompts.

local client = require('xcsh.client')
local text = require('xcsh.text')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

---The number of prompts to request: as many as a user would step through with a key.
local most = 200

---Gets the newest prompts of a folder's history, newest last. Without a history, the callback gets
---an empty list, because recall is only a convenience.
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
      parts[#parts + 1] = 'unanswered'
    end
    local where = wire.str(past.cwd)
    if where ~= '' and where ~= cwd then
      parts[#parts + 1] = text.one_line(where, 200)
    end
    return table.concat(parts, ' · ')
  end
end

---@param cwd string
---@param prompts xcsh.PastPrompt[]
local function offer(cwd, prompts)
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
end

---Lets the user select an earlier prompt, and puts it into the chat's prompt.
---@param query string words to search for; "" offers the newest prompts
function M.choose(query)
  local cwd = require('xcsh.config').root()
  local intent = require('xcsh.intent').begin()
  client.execute('xcsh.history', { cwd = cwd, query = query, limit = most }, function(err, result)
    intent:finish()
    if err then
      return view.error(err)
    end
    local prompts = wire.tbl(result.prompts)
    if #prompts == 0 then
      local problem = wire.str(result.problem)
      return view.notify(problem ~= '' and problem or 'No matching prompts.')
    end
    intent:show(cwd, 'Prompt History', function()
      offer(cwd, prompts)
    end)
  end)
end

return M
