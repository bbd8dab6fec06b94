-- The model picker: a catalog has more than a thousand models, of which few are ready to use.

local pickers = require('xcsh.pickers')
local text = require('xcsh.text')
local wire = require('xcsh.wire')

local M = {}

---@param count integer
---@return string
local function thousands(count)
  return count >= 1000 and ('%dk'):format(math.floor(count / 1000 + 0.5)) or tostring(count)
end

---@param cost any
---@return string?
local function price(cost)
  local input, output = wire.num(wire.tbl(cost).input), wire.num(wire.tbl(cost).output)
  if input > 0 or output > 0 then
    return ('$%g in / $%g out per 1M tokens'):format(input, output)
  end
end

---Returns a model on one line.
---@param model xcsh.Model
---@return string
function M.line(model)
  local parts = { text.one_line(wire.str(model.provider) .. '/' .. wire.str(model.id)) }
  local name = wire.str(model.name)
  if name ~= '' and name ~= model.id then
    parts[#parts + 1] = text.one_line(name, 100)
  end
  if model.reasoning == true then
    parts[#parts + 1] = 'Reasoning'
  end
  parts[#parts + 1] = price(model.cost)
  local window = wire.num(model.contextWindow)
  if window > 0 then
    parts[#parts + 1] = thousands(window) .. ' context'
  end
  if model.available ~= true then
    parts[#parts + 1] = 'API key needed'
  end
  return table.concat(parts, ' · ')
end

---@param prompt string
---@param items any[] models, and lines with other ways to continue
---@param answer xcsh.Answer
local function pick(prompt, items, answer)
  pickers.pick({
    prompt = prompt,
    kind = 'xcsh.model',
    items = items,
    format = function(item)
      return item.says or M.line(item)
    end,
    actions = {},
    on_choice = function(item)
      if item and item.open then
        return item.open()
      end
      answer(nil, item and (item.provider .. '/' .. item.id))
    end,
  })
end

---Lets the user select a model.
---@param prompt string
---@param models xcsh.Model[]
---@param answer xcsh.Answer
function M.choose(prompt, models, answer)
  models = vim.tbl_filter(function(model)
    return wire.str(wire.tbl(model).provider) ~= '' and wire.str(model.id) ~= ''
  end, models)
  local ready, others = {}, {}
  for _, model in ipairs(models) do
    table.insert(model.available == true and ready or others, model)
  end
  if #ready == 0 or #others == 0 then
    return pick(prompt, models, answer)
  end
  ready[#ready + 1] = {
    says = ('All models (%d)…'):format(#models),
    open = function()
      pick(prompt, models, answer)
    end,
  }
  pick(prompt, ready, answer)
end

return M
