-- Lets the user choose the engine of a folder: xcsh-ls itself, or a program that is installed here.

local client = require('xcsh.client')
local engine = require('xcsh.engine')
local text = require('xcsh.text')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

---Returns an engine on one line.
---@param item any xcsh.wire.EngineItem
---@return string
function M.line(item)
  item = wire.tbl(item)
  local parts = { wire.str(item.name) ~= '' and engine.label(item) or '?' }
  if item.state == 'current' then
    parts[#parts + 1] = 'current'
  end
  if item.usable ~= true then
    local problem = wire.str(item.problem)
    parts[#parts + 1] = problem ~= '' and text.one_line(problem, 400) or 'cannot be used'
  end
  if wire.str(item.path) ~= '' then
    parts[#parts + 1] = text.one_line(item.path, 200)
  end
  return table.concat(parts, ' · ')
end

---Lets the user select one of the engines. One that cannot be used is an error, which says why.
---@param items any
---@param prompt string
---@param answer fun(err: xcsh.Error?, name: string?)
function M.choose(items, prompt, answer)
  require('xcsh.pickers.select').choose(wire.tbl(items), {
    prompt = prompt,
    kind = 'xcsh.engine',
    format_item = M.line,
  }, function(item)
    item = wire.tbl(item)
    local name = wire.str(item.name)
    if name ~= '' and item.usable ~= true then
      return answer({ message = M.line(item) })
    end
    answer(nil, name ~= '' and name or nil)
  end)
end

---@param cwd string
---@param name string
---@param remember boolean use it in all folders
local function set(cwd, name, remember)
  local args = { cwd = cwd, engine = name, remember = remember or nil }
  require('xcsh.commands').run('xcsh.setEngine', args)
end

---@param cwd string
---@param offer xcsh.wire.EngineOffer
local function ask(cwd, offer)
  local name = engine.name(wire.str(offer.engine))
  local answers = {
    {
      title = 'Use ' .. name,
      run = function()
        set(cwd, offer.engine, true)
      end,
    },
    { title = 'Not now', run = function() end },
    {
      title = 'Never ask',
      run = function()
        set(cwd, engine.own, true)
      end,
    },
  }
  vim.ui.select(answers, {
    prompt = text.one_line(wire.str(offer.text), 400) .. ' ',
    kind = 'xcsh.question',
    format_item = function(item)
      return item.title
    end,
  }, function(item)
    if item then
      item.run()
    end
  end)
end

---@param result any
---@return xcsh.wire.EngineOffer?
local function offer_of(result)
  local offer = wire.tbl(wire.tbl(result).offer)
  return wire.str(offer.engine) ~= '' and wire.str(offer.text) ~= '' and offer or nil
end

---:XcshEngines: asks whether to use the only program that was found, or else which engine to use.
---@param cwd? string
function M.pick(cwd)
  cwd = cwd or require('xcsh.config').root()
  local intent = require('xcsh.intent').begin()
  client.execute('xcsh.engines', { cwd = cwd }, function(err, result)
    intent:finish()
    if err then
      return view.error(err)
    end
    intent:show(cwd, 'Choose Engine', function()
      local offer = offer_of(result)
      if offer then
        return ask(cwd, offer)
      end
      M.choose(result.engines, 'Choose Engine', function(problem, name)
        if problem then
          view.error(problem)
        elseif name then
          set(cwd, name, false)
        end
      end)
    end)
  end)
end

return M
